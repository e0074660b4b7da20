package io.warmpath.sim;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.warmpath.sim.engine.Timers;
import java.util.concurrent.TimeUnit;

/** Real time on the engine's event loop. */
final class LoopTimers implements Timers {
    private final EventLoop loop;

    LoopTimers(EventLoop loop) {
        this.loop = loop;
    }

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
