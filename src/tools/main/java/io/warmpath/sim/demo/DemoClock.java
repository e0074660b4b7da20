package io.warmpath.sim.demo;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Waits for moments, and remembers how late they came: on a machine that has more to do than it
 * can, times say little about who was routed where. Any thread.
 */
final class DemoClock {
    /**
     * A sleeper wakes within 1 ms on an idle machine, 1.5 ms on a busy one; 7 ms is one that is
     * choked.
     */
    private static final Duration TOO_LATE = Duration.ofMillis(2);

    private final LongAdder waits = new LongAdder();
    private final LongAdder lateNanos = new LongAdder();

    /** Returns at once when the moment has passed. {@code moment}: in {@link System#nanoTime}. */
    void until(long moment) throws InterruptedException {
        long left = moment - System.nanoTime();
        if (left <= 0) {
            return;
        }
        TimeUnit.NANOSECONDS.sleep(left);
        woken(Duration.ofNanos(System.nanoTime() - moment));
    }

    /** Somebody had to be woken, and was so late. */
    void woken(Duration late) {
        waits.increment();
        lateNanos.add(late.toNanos());
    }

    void pause(Duration time) throws InterruptedException {
        until(System.nanoTime() + time.toNanos());
    }

    /** How late this machine woke who had to be woken, on average. */
    Duration late() {
        return Duration.ofNanos(lateNanos.sum() / Math.max(1, waits.sum()));
    }

    /** Times can be compared. */
    boolean kept() {
        return late().compareTo(TOO_LATE) <= 0;
    }
}
