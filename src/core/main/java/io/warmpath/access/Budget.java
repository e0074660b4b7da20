package io.warmpath.access;

import java.util.concurrent.atomic.AtomicLong;

/**
 * So many units per minute, all of them at once at most: a token bucket in one number. The number
 * is the moment at which the bucket will be full again. Taking moves it on, time passes it by; a
 * moment further off than a minute is a debt. Any thread, without locks; nothing is allocated.
 * Times are {@link System#nanoTime}-like.
 */
public final class Budget {
    private static final long MINUTE = 60_000_000_000L;

    private final long perMinute;
    private final AtomicLong fullAt;

    /**
     * @param perMinute 1..{@link Grant#MAX_PER_MINUTE}
     * @param now the bucket is full at first
     */
    public Budget(long perMinute, long now) {
        if (perMinute < 1 || perMinute > Grant.MAX_PER_MINUTE) {
            throw new IllegalArgumentException(perMinute + " per minute");
        }
        this.perMinute = perMinute;
        this.fullAt = new AtomicLong(now);
    }

    public long limit() {
        return perMinute;
    }

    /**
     * Takes units, all or none. More than the limit counts as the limit, so that everything fits
     * into a full bucket; the rest can be {@link #charge charged} when it is known.
     *
     * @return 0, or the nanoseconds until they can be taken if nobody else takes any
     */
    public long take(long units, long now) {
        long cost = nanos(Math.min(units, perMinute));
        while (true) {
            long full = fullAt.get();
            long from = full - now > 0 ? full : now;
            long late = from + cost - now - MINUTE;
            if (late > 0) {
                return late;
            }
            if (fullAt.compareAndSet(full, from + cost)) {
                return 0;
            }
        }
    }

    /** Takes units whether they are there or not; negative: gives them back. */
    public void charge(long units, long now) {
        long cost = nanos(units);
        while (true) {
            long full = fullAt.get();
            long from = full - now > 0 ? full : now;
            if (fullAt.compareAndSet(full, from + cost)) {
                return;
            }
        }
    }

    /** Whole units that can be taken now. */
    public long remaining(long now) {
        long spent = Math.max(0, fullAt.get() - now);
        return spent >= MINUTE ? 0 : (long) ((double) (MINUTE - spent) * perMinute / MINUTE);
    }

    /** Nanoseconds until all units are there again. */
    public long untilFull(long now) {
        return Math.max(0, fullAt.get() - now);
    }

    /** Of a day of units at most, which keeps the clock far from its end. */
    private long nanos(long units) {
        double nanos = (double) units * MINUTE / perMinute;
        return (long) Math.max(-1440.0 * MINUTE, Math.min(1440.0 * MINUTE, nanos));
    }
}
