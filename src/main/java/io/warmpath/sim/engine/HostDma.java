package io.warmpath.sim.engine;

import io.warmpath.sim.cache.HostLink;

/** Copies to the host one after the other at the link's rate. Engine's thread only. */
public final class HostDma implements HostLink {
    private final Timers timers;
    private final Timing timing;
    private final Runnable publish;
    private long freeAt;

    /**
     * @param publish sends the cache events of a landed copy
     */
    public HostDma(Timers timers, Timing timing, Runnable publish) {
        this.timers = timers;
        this.timing = timing;
        this.publish = publish;
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
                    publish.run();
                });
    }
}
