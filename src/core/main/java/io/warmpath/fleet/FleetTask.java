package io.warmpath.fleet;

/** Work on the fleet's one thread. */
public interface FleetTask {
    /** Does what is due, without blocking; returns the nanoseconds until the next thing is. */
    long tick();

    /** Called, on any thread, when {@link #tick} has something to do before that; once. */
    void onWake(Runnable wake);
}
