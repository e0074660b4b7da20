package io.warmpath.sim.engine;

/**
 * Time of one engine: its clock and its timers, all on one thread. The running engine uses its
 * event loop; tests use virtual time.
 */
public interface Timers {
    long nanoTime();

    /** Runs {@code task} on the engine's thread after at least {@code delayNanos}. */
    Timer schedule(long delayNanos, Runnable task);

    /** A timer that has been set. */
    interface Timer {
        /** No effect when the task has run. Engine's thread only. */
        void cancel();
    }
}
