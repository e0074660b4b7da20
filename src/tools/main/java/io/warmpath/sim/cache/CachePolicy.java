package io.warmpath.sim.cache;

import java.util.function.LongSupplier;

/**
 * What a cache keeps longest.
 *
 * @param byPriority blocks of requests of a lower {@code priority} go first, of equal ones the
 *     least recently used; otherwise only that counts
 * @param maxPinnedBlocks that may be pinned in host memory at a time
 * @param nanoTime clock of the pins
 */
public record CachePolicy(boolean byPriority, int maxPinnedBlocks, LongSupplier nanoTime) {
    /** Least recently used, no pins. */
    public static final CachePolicy LRU = new CachePolicy(false, 0, () -> 0);
}
