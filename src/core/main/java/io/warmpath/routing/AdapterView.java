package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.ActiveAdapters;
import io.warmpath.prefix.WorkerSlot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the request's LoRA adapter has no requests yet, and how long it waits for a place there.
 * Immutable.
 *
 * @param turns as {@link ActiveAdapters#turns}, of ranks where the adapter is not active
 */
public record AdapterView(Map<WorkerSlot, Double> turns) {
    public AdapterView {
        turns = Map.copyOf(turns);
    }

    /**
     * @param adapter empty: the request wants none
     * @return null without an adapter
     */
    public static @Nullable AdapterView of(
            ActiveAdapters active, String adapter, List<Candidate> candidates) {
        if (adapter.isEmpty()) {
            return null;
        }
        Map<WorkerSlot, Double> turns = new HashMap<>();
        for (Candidate c : candidates) {
            double there = active.turns(c, adapter);
            if (there != ActiveAdapters.ACTIVE) {
                turns.put(c.slot(), there);
            }
        }
        return new AdapterView(turns);
    }
}
