package io.warmpath.prefix;

/**
 * How long, and how much, routing decisions stand for what a worker without events holds.
 *
 * @param ttlMillis a decision ends when it is this old; at least 1
 * @param capacity most (slot, block) pairs that decisions hold, per {@link #SLOTS} slots; above it
 *     the oldest decisions end; at least 1
 */
public record DecisionLimits(long ttlMillis, long capacity) {
    /** Slots that share one capacity: 0 to 1,023, 1,024 to 2,047 ... */
    public static final int SLOTS = 1024;

    /** Two minutes; a thousand workers of 16,384 blocks. */
    public static final DecisionLimits DEFAULT = new DecisionLimits(120_000, 1L << 24);

    public DecisionLimits {
        if (ttlMillis < 1 || capacity < 1) {
            throw new IllegalArgumentException(
                    ("decisions need a time to live and a capacity of at least 1, not %s ms"
                                    + " and %s")
                            .formatted(ttlMillis, capacity));
        }
    }
}
