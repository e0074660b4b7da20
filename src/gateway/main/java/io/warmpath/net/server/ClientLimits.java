package io.warmpath.net.server;

import io.warmpath.net.LoopDeadlines;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * How many connections clients may have, how long they may take to send, and how often one took
 * longer. Any thread.
 *
 * @param headNanos from the first byte of a request to the end of its head
 * @param bodyNanos span in which a body must bring {@link #leastBytes}
 * @param idleNanos without a request
 * @param nanoTime as {@link System#nanoTime}
 * @param loops where connections wait
 * @param connections how many there may be
 */
public record ClientLimits(
        long headNanos,
        long bodyNanos,
        long idleNanos,
        LongSupplier nanoTime,
        LoopDeadlines loops,
        LongAdder heads,
        LongAdder bodies,
        LongAdder idles,
        ClientConnections connections) {
    private static final int LEAST_BYTES_PER_SECOND = 500;

    /**
     * Of no client yet.
     *
     * @param most connections together
     * @param setting that says so; empty: there is none
     */
    public static ClientLimits of(
            Duration head,
            Duration body,
            Duration idle,
            int most,
            String setting,
            LongSupplier nanoTime) {
        Duration shorter = head.compareTo(body) < 0 ? head : body;
        return new ClientLimits(
                head.toNanos(),
                body.toNanos(),
                idle.toNanos(),
                nanoTime,
                new LoopDeadlines(shorter.compareTo(idle) < 0 ? shorter : idle, nanoTime),
                new LongAdder(),
                new LongAdder(),
                new LongAdder(),
                new ClientConnections(most, setting));
    }

    /** What a body must bring in one span. */
    long leastBytes() {
        return leastBytes(bodyNanos);
    }

    /** {@code spanNanos}: nanoseconds. Returns bytes that a body must bring in such a span. */
    public static long leastBytes(long spanNanos) {
        return spanNanos * LEAST_BYTES_PER_SECOND / 1_000_000_000;
    }
}
