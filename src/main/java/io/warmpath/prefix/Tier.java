package io.warmpath.prefix;

/**
 * Where a KV block lies on a worker, fastest first. The ordinal is the tier number of the C ABI.
 */
public enum Tier {
    /** Device memory (L1). */
    GPU,
    /** Pinned host memory (L2). */
    HOST,
    /** Local disk. */
    DISK,
    /** Shared pool reachable by this worker. */
    EXTERNAL;

    /** Number of tiers; depths come in groups of this many. */
    public static final int COUNT = 4;
}
