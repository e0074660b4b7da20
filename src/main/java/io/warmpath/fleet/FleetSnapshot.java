package io.warmpath.fleet;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * All workers at one instant. Immutable; look-ups are O(1) and allocate nothing.
 *
 * <p>{@link #candidates} lists ready ranks only; a model whose workers are all down is still {@link
 * #knows known}.
 */
public final class FleetSnapshot {
    public static final FleetSnapshot EMPTY = new FleetSnapshot(0, List.of());

    private final long version;
    private final List<Worker> workers;
    private final Map<String, List<Candidate>> byModel;
    private final Map<String, List<Candidate>> unhealthyByModel;

    public FleetSnapshot(long version, List<Worker> workers) {
        this.version = version;
        this.workers = List.copyOf(workers);
        Map<String, List<Candidate>> map = new LinkedHashMap<>();
        Map<String, List<Candidate>> unhealthy = new LinkedHashMap<>();
        for (Worker w : this.workers) {
            for (String model : w.models()) {
                List<Candidate> list = map.computeIfAbsent(model, m -> new ArrayList<>());
                List<Candidate> into =
                        w.available()
                                ? list
                                : unhealthy.computeIfAbsent(model, m -> new ArrayList<>());
                if (w.available() || w.state() == WorkerState.UNHEALTHY) {
                    w.ranks().forEach(r -> into.add(new Candidate(w, r.dpRank(), r.slot())));
                }
            }
        }
        map.replaceAll((m, list) -> List.copyOf(list));
        unhealthy.replaceAll((m, list) -> List.copyOf(list));
        this.byModel = Map.copyOf(map);
        this.unhealthyByModel = Map.copyOf(unhealthy);
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

    /** Ready ranks that serve this model; empty when there is none. */
    public List<Candidate> candidates(String model) {
        return byModel.getOrDefault(model, List.of());
    }

    /**
     * Unhealthy ranks that serve this model, for the moment when no other is left: trying one costs
     * a refused connection and finds an engine that just came back. Draining workers are not among
     * them.
     */
    public List<Candidate> lastResort(String model) {
        return unhealthyByModel.getOrDefault(model, List.of());
    }

    /** All model names, sorted. */
    public List<String> models() {
        return List.copyOf(new TreeSet<>(byModel.keySet()));
    }

    /** At least one worker gets requests. */
    public boolean anyAvailable() {
        return workers.stream().anyMatch(Worker::available);
    }
}
