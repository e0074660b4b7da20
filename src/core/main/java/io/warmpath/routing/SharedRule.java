package io.warmpath.routing;

/** Which blocks of a shared pool are credited to a worker. */
public enum SharedRule {
    /**
     * The run of pool blocks that goes on without a gap where the worker's own tiers end: what an
     * engine can really fetch, each block credited once.
     */
    CONTIGUOUS,
    /** Every pool block beyond the device prefix, behind gaps too. */
    BEYOND_DEVICE
}
