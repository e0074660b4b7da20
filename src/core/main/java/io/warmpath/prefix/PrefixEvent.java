package io.warmpath.prefix;

import org.jspecify.annotations.Nullable;

/**
 * One change of what a worker caches, as the index takes it. Engine hashes are opaque 64-bit names,
 * unique per slot's worker; parents and removals are matched by them, queries by token content.
 * Arrays are not copied and must not change afterwards.
 */
public sealed interface PrefixEvent {
    WorkerSlot slot();

    /**
     * Consecutive blocks now lie in {@code tier}.
     *
     * @param hasParent false when the first block starts the prompt
     * @param parent engine hash of the block before the first one; meaningless without a parent
     * @param hashes engine hash per block, at least one
     * @param tokens {@code hashes.length * blockSize} token ids, u32 in an int
     */
    record Stored(
            WorkerSlot slot,
            Tier tier,
            boolean hasParent,
            long parent,
            long[] hashes,
            int[] tokens,
            int blockSize,
            PrefixSpace space)
            implements PrefixEvent {
        public Stored {
            if (blockSize <= 0
                    || hashes.length == 0
                    || tokens.length != (long) hashes.length * blockSize) {
                throw new IllegalArgumentException(
                        "%s hashes of %s tokens do not fit %s tokens"
                                .formatted(hashes.length, blockSize, tokens.length));
            }
        }
    }

    /** These blocks left {@code tier}; unknown hashes are counted and ignored. */
    record Removed(WorkerSlot slot, Tier tier, long[] hashes) implements PrefixEvent {}

    /**
     * Every block is gone, also those that wait for a parent.
     *
     * @param tier of this tier only, or null for every tier
     */
    record Cleared(WorkerSlot slot, @Nullable Tier tier) implements PrefixEvent {
        /** Every tier. */
        public Cleared(WorkerSlot slot) {
            this(slot, null);
        }
    }
}
