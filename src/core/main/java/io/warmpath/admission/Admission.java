package io.warmpath.admission;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Queues and busy thresholds of all models. Any thread. With neither configured, {@link #queue} and
 * {@link #free} cost a field read each.
 */
public final class Admission {
    private final AdmissionOptions options;
    private final LoadBook loads;
    private final LongSupplier nanoTime;
    private final Map<String, ModelQueue> queues = new ConcurrentHashMap<>();
    private final Map<String, BusyThresholds> busy = new ConcurrentHashMap<>();
    private final boolean queueing;

    /** Some threshold is set, for some model. */
    private volatile boolean guarding;

    public Admission(AdmissionOptions options, LoadBook loads, LongSupplier nanoTime) {
        this.options = options;
        this.loads = loads;
        this.nanoTime = nanoTime;
        this.queueing = options.policies() != null || !options.perModel().isEmpty();
        this.guarding = !options.busy().none();
    }

    public AdmissionOptions options() {
        return options;
    }

    /** Some model has a queue. */
    public boolean queueing() {
        return queueing;
    }

    /** Some model's requests are kept from busy workers. */
    public boolean guarding() {
        return guarding;
    }

    /** What is booked decides whether requests may start. */
    public boolean looksAtLoad() {
        return queueing || guarding;
    }

    /** The model's queue; null when it has none. To be asked for models that exist only. */
    public @Nullable ModelQueue queue(String model) {
        if (!queueing) {
            return null;
        }
        ModelQueue known = queues.get(model);
        if (known != null) {
            return known;
        }
        Policies policies = options.perModel().get(model);
        if (policies == null) {
            policies = options.policies();
        }
        if (policies == null) {
            return null;
        }
        Policies own = policies;
        return queues.computeIfAbsent(
                model, m -> new ModelQueue(own, loads, options.batchedTokens(), nanoTime));
    }

    /** The candidates that are not busy: the same list when none is. */
    public List<Candidate> free(String model, List<Candidate> candidates) {
        if (!guarding) {
            return candidates;
        }
        BusyThresholds thresholds = busy(model);
        if (thresholds.none()) {
            return candidates;
        }
        List<Candidate> free = new ArrayList<>(candidates.size());
        for (Candidate c : candidates) {
            if (!thresholds.exceeded(c.worker(), loads.load(c.slot()), options.batchedTokens())) {
                free.add(c);
            }
        }
        return free.size() == candidates.size() ? candidates : free;
    }

    /** Load went down somewhere, or the fleet changed. */
    public void wake() {
        if (queueing) {
            queues.values().forEach(ModelQueue::wake);
        }
    }

    /** Requests that wait, over all models. */
    public int waiting() {
        return queues.values().stream().mapToInt(ModelQueue::size).sum();
    }

    /** The queues there are, by model. */
    public Map<String, ModelQueue> queues() {
        return new TreeMap<>(queues);
    }

    public BusyThresholds busy(String model) {
        return busy.getOrDefault(model, options.busy());
    }

    /** From now on, for this model. */
    public void busy(String model, BusyThresholds thresholds) {
        busy.put(model, thresholds);
        guarding = true;
        wake();
    }

    /** The models whose thresholds were set while running. */
    public Map<String, BusyThresholds> busyModels() {
        return new TreeMap<>(busy);
    }
}
