package io.warmpath.prefix;

/**
 * Where a KV block lies on a worker, fastest first. The ordinal is the tier number of the C ABI.
 */
public enum Tier {
    /** Device memory (L1). */
    GPU(0),
    /** Pinned host memory (L2). */
    HOST(1),
    /** Local disk. */
    DISK(2),
    /** Shared pool reachable by this worker. */
    EXTERNAL(3);

    /** Number of tiers; depths come in groups of this many. */
    public static final int COUNT = 4;

    private final int number;

    Tier(int number) {
        this.number = number;
    }

    /** Number of the tier in the C ABI and in groups of depths, 0 = fastest. */
    public int number() {
        return number;
    }
}
