package io.warmpath.sim.half;

/** One direction of an engine's network: one transfer after the other. Engine's thread only. */
final class Link {
    private long freeAt = Long.MIN_VALUE;

    /** When a transfer that could begin at {@code from} has passed. {@code nanos}: its own time. */
    long pass(long from, long nanos) {
        freeAt = Math.max(freeAt, from) + nanos;
        return freeAt;
    }
}
