package io.warmpath.upstream;

import io.netty.channel.EventLoop;
import io.warmpath.fleet.monitor.SignsOfLife;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;

/** What a client of engines has on one event loop, whatever its connections are. That loop only. */
abstract class EngineLoop {
    private static final Logger LOG = Logger.getLogger(EngineLoop.class);

    private final EventLoop loop;
    private final UpstreamOptions options;
    private final LongSupplier nanoTime;
    private final WorkerDeadlines deadlines;
    private final ScheduledFuture<?> timer;

    /**
     * @param signs gets the names of engines that send
     * @param nanoTime as {@link System#nanoTime}
     */
    EngineLoop(EventLoop loop, UpstreamOptions options, SignsOfLife signs, LongSupplier nanoTime) {
        this.loop = loop;
        this.options = options;
        this.nanoTime = nanoTime;
        this.deadlines = new WorkerDeadlines(signs);
        long period = options.sweepMillis();
        this.timer = loop.scheduleAtFixedRate(this::tick, period, period, TimeUnit.MILLISECONDS);
    }

    final EventLoop loop() {
        return loop;
    }

    final UpstreamOptions options() {
        return options;
    }

    final WorkerDeadlines deadlines() {
        return deadlines;
    }

    final long now() {
        return nanoTime.getAsLong();
    }

    /** A task that throws would be its timer's last run. */
    private void tick() {
        try {
            sweep(now());
        } catch (RuntimeException e) {
            LOG.error("looking for calls whose time is over", e);
        }
    }

    void sweep(long now) {
        deadlines.sweep(now);
    }

    /** Any thread. */
    final void unwell(URI worker, Duration patience) {
        loop.execute(() -> deadlines.unwell(worker, now(), patience.toNanos()));
    }

    /** Any thread. */
    final void well(URI worker) {
        loop.execute(() -> deadlines.well(worker));
    }

    /** Any thread. */
    final void left(URI worker, Duration patience, boolean lost) {
        loop.execute(
                () -> {
                    if (lost) {
                        deadlines.lost(worker, patience.toNanos());
                    } else {
                        deadlines.left(worker, patience.toNanos());
                    }
                });
    }

    /** Any thread; running calls end as broken. */
    final void close() {
        loop.execute(
                () -> {
                    timer.cancel(false);
                    closeConnections();
                });
    }

    abstract void closeConnections();
}
