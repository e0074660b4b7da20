package io.warmpath.sim;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.warmpath.sim.engine.Timers;
import java.util.concurrent.TimeUnit;

/** Real time on the engine's event loop. */
record LoopTimers(EventLoop loop) implements Timers {
    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        ScheduledFuture<?> timer = loop.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
        return () -> timer.cancel(false);
    }
}
