package io.warmpath.sim.engine;

import io.warmpath.sim.cache.HostLink;

/** Copies to the host one after the other at the link's rate. Engine's thread only. */
public final class HostDma implements HostLink {
    private final Timers timers;
    private final Timing timing;
    private final Runnable landed;
    private long freeAt;

    /**
     * @param landed called after a copy, for its events and those who wait for the blocks it held
     */
    public HostDma(Timers timers, Timing timing, Runnable landed) {
        this.timers = timers;
        this.timing = timing;
        this.landed = landed;
        this.freeAt = timers.nanoTime();
    }

    @Override
    public void copy(int tokens, Runnable done) {
        long now = timers.nanoTime();
        freeAt = Math.max(now, freeAt) + timing.copyNanos(tokens);
        timers.schedule(
                freeAt - now,
                () -> {
                    done.run();
                    landed.run();
                });
    }
}
