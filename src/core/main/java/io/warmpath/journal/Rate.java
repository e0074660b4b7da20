package io.warmpath.journal;

import java.util.concurrent.atomic.AtomicLong;

/**
 * So many units a second; as many at once at most. Any thread, without locks; nothing is allocated.
 * One number: the moment at which the whole second's worth is there again.
 */
public final class Rate {
    private static final long SECOND = 1_000_000_000L;

    private final long perSecond;
    private final AtomicLong fullAt;

    /**
     * @param perSecond 0..{@value #SECOND}; 0: there are never any
     * @param now nanoseconds, as {@link System#nanoTime}; all of it is there at first
     */
    public Rate(long perSecond, long now) {
        if (perSecond < 0 || perSecond > SECOND) {
            throw new IllegalArgumentException(perSecond + " per second");
        }
        this.perSecond = perSecond;
        this.fullAt = new AtomicLong(now);
    }

    /**
     * Takes all of them or none. More than a second has count as those of one second.
     *
     * @param units 1 or more
     */
    public boolean take(long units, long now) {
        if (perSecond == 0) {
            return false;
        }
        long cost = Math.min(units, perSecond) * SECOND / perSecond;
        while (true) {
            long full = fullAt.get();
            long then = (full - now > 0 ? full : now) + cost;
            if (then - now > SECOND) {
                return false;
            }
            if (fullAt.compareAndSet(full, then)) {
                return true;
            }
        }
    }
}
