package io.warmpath.fleet;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * All workers at one instant. Immutable; look-ups are O(1) and allocate nothing. {@link
 * #candidates} lists ranks that get requests; a model whose workers are all down is still {@link
 * #knows known}.
 */
public final class FleetSnapshot {
    public static final FleetSnapshot EMPTY = new FleetSnapshot(0, List.of());

    private final long version;
    private final List<Worker> workers;
    private final Map<String, List<Candidate>> byModel;
    private final Map<String, List<Candidate>> lastResort;
    private final Map<String, List<Candidate>> prefills;
    private final Set<String> panics;
    private final Map<Long, Standing> standings;
    private final boolean limited;
    private final int unlearnt;

    /**
     * What else counts of a worker, beside its state.
     *
     * @param ramps it has come back and gets a growing share of the requests
     * @param rampFromNanos since then
     * @param gone nobody listened at its port: not worth a try while others are left
     */
    record Standing(boolean ramps, long rampFromNanos, boolean gone) {}

    public FleetSnapshot(long version, List<Worker> workers) {
        this(version, workers, Map.of(), 1);
    }

    /**
     * @param standings of workers that have one, by id
     * @param panicShare of a model's workers that look bad, from which on all are tried
     */
    FleetSnapshot(
            long version, List<Worker> workers, Map<Long, Standing> standings, double panicShare) {
        this.version = version;
        this.workers = List.copyOf(workers);
        this.standings = Map.copyOf(standings);
        Map<String, PerModel> models = new LinkedHashMap<>();
        boolean limits = false;
        int silent = 0;
        for (Worker w : this.workers) {
            if (w.disaggregation().role() == Role.ENCODE) {
                continue;
            }
            silent += w.models().isEmpty() && w.state() != WorkerState.DRAINING ? 1 : 0;
            Standing standing = this.standings.get(w.id());
            boolean gone = standing != null && standing.gone();
            limits |= w.state() == WorkerState.TRIAL || w.state() == WorkerState.FULL;
            limits |= standing != null && standing.ramps();
            for (String model : w.models()) {
                models.computeIfAbsent(model, m -> new PerModel()).add(w, gone);
            }
        }
        this.limited = limits;
        this.unlearnt = silent;
        Map<String, List<Candidate>> open = new HashMap<>();
        Map<String, List<Candidate>> last = new HashMap<>();
        Map<String, List<Candidate>> prefilling = new HashMap<>();
        Set<String> panicking = new HashSet<>();
        models.forEach(
                (model, m) -> {
                    m.pair();
                    prefilling.put(model, List.copyOf(m.prefills));
                    boolean panic = m.panics(panicShare);
                    if (panic) {
                        panicking.add(model);
                    }
                    open.put(model, List.copyOf(panic ? m.worthTrying : m.open));
                    last.put(model, List.copyOf(m.bad));
                });
        this.byModel = Map.copyOf(open);
        this.lastResort = Map.copyOf(last);
        this.prefills = Map.copyOf(prefilling);
        this.panics = Set.copyOf(panicking);
    }

    /** The ranks that serve one model, while they are counted. */
    private static final class PerModel {
        final List<Candidate> open = new ArrayList<>();
        final List<Candidate> bad = new ArrayList<>();
        final List<Candidate> worthTrying = new ArrayList<>();
        final List<Candidate> prefills = new ArrayList<>();
        final List<Candidate> decodes = new ArrayList<>();
        final List<Candidate> prefillsAlone = new ArrayList<>();
        int badWorkers;
        int goodWorkers;

        void add(Worker w, boolean gone) {
            boolean trial = w.state() == WorkerState.TRIAL;
            boolean looksBad =
                    w.state() == WorkerState.UNHEALTHY || w.state() == WorkerState.SUSPENDED;
            badWorkers += looksBad || trial ? 1 : 0;
            goodWorkers += w.available() && !trial ? 1 : 0;
            for (Worker.Rank r : w.ranks()) {
                Candidate c = new Candidate(w, r.dpRank(), r.slot());
                if (w.disaggregation().role() == Role.PREFILL) {
                    if (w.available()) {
                        prefills.add(c);
                        if (w.disaggregation().alone()) {
                            prefillsAlone.add(c);
                        }
                    }
                    continue;
                }
                if (!w.disaggregation().alone()) {
                    if (w.available()) {
                        decodes.add(c);
                    }
                    continue;
                }
                if (w.available()) {
                    open.add(c);
                }
                if (looksBad) {
                    bad.add(c);
                }
                if (w.available() || (looksBad && !gone)) {
                    worthTrying.add(c);
                }
            }
        }

        /**
         * Who only decodes can be asked while somebody prefills; who prefills and can do the rest,
         * while nobody else is there.
         */
        void pair() {
            if (!prefills.isEmpty()) {
                open.addAll(decodes);
                worthTrying.addAll(decodes);
            }
            if (open.isEmpty()) {
                open.addAll(prefillsAlone);
                worthTrying.addAll(prefillsAlone);
            }
        }

        boolean panics(double share) {
            // With nobody left the last resort is the same list, and those who are gone.
            return !open.isEmpty()
                    && worthTrying.size() > open.size()
                    && badWorkers >= share * (badWorkers + goodWorkers);
        }
    }

    /** Workers that have not said yet what they serve, and will be asked until they do. */
    public int unlearnt() {
        return unlearnt;
    }

    /** Grows with every change of the fleet. */
    public long version() {
        return version;
    }

    public List<Worker> workers() {
        return workers;
    }

    /** Some worker, healthy or not, serves this model. */
    public boolean knows(String model) {
        return byModel.containsKey(model);
    }

    /**
     * Ranks that serve this model and get requests; when so many look bad that the rest could not
     * bear the load, also those that look bad but may answer. Empty when there is none.
     */
    public List<Candidate> candidates(String model) {
        return byModel.getOrDefault(model, List.of());
    }

    /**
     * Unhealthy and suspended ranks that serve this model, for the moment when no other is left:
     * trying one costs a refused connection and finds an engine that just came back. Draining
     * workers are not among them.
     */
    public List<Candidate> lastResort(String model) {
        return lastResort.getOrDefault(model, List.of());
    }

    /**
     * Ranks that compute prompts of this model for the ones among {@link #candidates} that only
     * decode.
     */
    public List<Candidate> prefills(String model) {
        return prefills.getOrDefault(model, List.of());
    }

    /** So many of the model's workers look bad that those are tried, too. */
    public boolean panics(String model) {
        return panics.contains(model);
    }

    /** Models whose bad workers are tried, too. */
    public int panics() {
        return panics.size();
    }

    /** Somebody is on trial, has a full queue or comes back slowly. */
    boolean limited() {
        return limited;
    }

    @Nullable Standing standing(long worker) {
        return standings.get(worker);
    }

    /** All model names, sorted. */
    public List<String> models() {
        return List.copyOf(new TreeSet<>(byModel.keySet()));
    }

    /** At least one worker gets requests. */
    public boolean anyAvailable() {
        return workers.stream().anyMatch(Worker::serves);
    }
}
