package io.warmpath.load;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.probe.AdapterSlots;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.prefix.WorkerSlot;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which LoRA adapters have requests where: those that this gateway has sent, and those that engines
 * tell of. An engine computes no more adapters at once than it was started for; requests of another
 * one wait until all those of one of them have ended. Any thread, no waiting.
 */
public final class ActiveAdapters {
    /** The adapter has requests there already, and a place. */
    public static final double ACTIVE = -1;

    private final Map<WorkerSlot, Map<String, Integer>> sent = new ConcurrentHashMap<>();
    private final Map<Long, Map<Integer, AdapterSlots>> told = new ConcurrentHashMap<>();

    /** A request of an adapter begins there; {@link #ended} must follow, once. */
    public void began(WorkerSlot slot, String adapter) {
        count(slot, adapter, 1);
    }

    public void ended(WorkerSlot slot, String adapter) {
        count(slot, adapter, -1);
    }

    private void count(WorkerSlot slot, String adapter, int more) {
        sent.compute(
                slot,
                (s, before) -> {
                    Map<String, Integer> now = new HashMap<>(before == null ? Map.of() : before);
                    int requests = now.getOrDefault(adapter, 0) + more;
                    if (requests > 0) {
                        now.put(adapter, requests);
                    } else {
                        now.remove(adapter);
                    }
                    return now.isEmpty() ? null : now;
                });
    }

    /**
     * What a worker's engine says now of its ranks.
     *
     * @param loads empty: the worker is asked no more
     */
    public void told(List<EngineLoad> loads, long worker) {
        Map<Integer, AdapterSlots> ranks = new HashMap<>();
        for (EngineLoad load : loads) {
            AdapterSlots slots = load.adapters();
            if (slots != null) {
                ranks.put(load.dpRank(), slots);
            }
        }
        if (ranks.isEmpty()) {
            told.remove(worker);
        } else {
            told.put(worker, Map.copyOf(ranks));
        }
    }

    /**
     * How often a place there has to become free before this adapter has one, as a part of all its
     * places: 0 while one is free, 1 where each has to change hands once. Half of that for an
     * adapter that waits already, {@link #ACTIVE} for one that need not wait.
     */
    public double turns(Candidate there, String adapter) {
        Map<String, Integer> own = sent.getOrDefault(there.slot(), Map.of());
        AdapterSlots slots = told.getOrDefault(there.worker().id(), Map.of()).get(there.dpRank());
        int limit = slots == null ? there.worker().capacity().adapters() : slots.limit();
        Set<String> all = new HashSet<>(own.keySet());
        int running = 0;
        if (slots != null) {
            all.addAll(slots.active());
            running = slots.used();
        }
        boolean known = !all.add(adapter);
        int wanted = known ? all.size() : Math.max(all.size(), running + 1);
        double turns = limit == 0 ? 0 : Math.max(0, wanted - limit) / (double) limit;
        if (known) {
            return turns == 0 ? ACTIVE : turns / 2;
        }
        return turns;
    }
}
