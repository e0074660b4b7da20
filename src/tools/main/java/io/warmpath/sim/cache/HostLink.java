package io.warmpath.sim.cache;

/**
 * Moves blocks from GPU to host memory; calls back on the cache's thread, in order of the calls.
 */
public interface HostLink {
    /** Starts a copy; {@code done} runs when the bytes have landed. */
    void copy(int tokens, Runnable done);
}
