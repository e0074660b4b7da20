package io.warmpath.net;

import io.netty.channel.EventLoop;
import io.vertx.core.Context;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * {@link Deadlines} of each event loop, swept there. One timer per loop, from its first use until
 * the loop ends. Any thread.
 */
public final class LoopDeadlines {
    private final long sweepMillis;
    private final LongSupplier nanoTime;
    private final Map<EventLoop, Deadlines> loops = new ConcurrentHashMap<>();

    /**
     * @param shortest of the times that entries wait; one is noticed late by an eighth of it at
     *     most, and by half a second
     * @param nanoTime as {@link System#nanoTime}
     */
    public LoopDeadlines(Duration shortest, LongSupplier nanoTime) {
        this.sweepMillis = Deadlines.sweepMillis(shortest);
        this.nanoTime = nanoTime;
    }

    /** Those of the loop that this context's tasks run on. */
    public Deadlines of(Context context) {
        return of(VertxInternals.eventLoop(context));
    }

    public Deadlines of(EventLoop loop) {
        Deadlines known = loops.get(loop);
        return known != null ? known : loops.computeIfAbsent(loop, this::swept);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // it ends with its loop
    private Deadlines swept(EventLoop loop) {
        Deadlines deadlines = new Deadlines();
        loop.scheduleAtFixedRate(
                () -> deadlines.sweep(nanoTime.getAsLong()),
                sweepMillis,
                sweepMillis,
                TimeUnit.MILLISECONDS);
        return deadlines;
    }
}
