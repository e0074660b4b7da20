package io.warmpath.sim.virtual;

/**
 * Who hears what an engine does, at the moment when it happens. What is submitted from within comes
 * in time for the engine's next step.
 */
public interface EngineWatcher<J extends Job> {
    void firstToken(J job);

    void ended(J job);

    /** Blocks {@code from} to {@code to} (not with it) are new, on the device or in host memory. */
    void stored(boolean host, int[] blocks, int from, int to);

    /** These are gone; the list is used again after the call. */
    void removed(boolean host, IdList blocks);
}
