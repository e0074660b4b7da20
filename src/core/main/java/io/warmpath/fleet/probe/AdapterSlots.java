package io.warmpath.fleet.probe;

import java.util.Set;

/**
 * Which LoRA adapters an engine's rank has requests of, and how many it can compute at once.
 *
 * @param limit at once, above 0
 * @param active names of those with requests that have begun; empty where it tells no names
 * @param used how many run
 */
public record AdapterSlots(int limit, Set<String> active, int used) {
    public AdapterSlots {
        active = Set.copyOf(active);
        used = Math.clamp(used, 0, limit);
    }
}
