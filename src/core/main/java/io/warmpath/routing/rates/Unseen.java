package io.warmpath.routing.rates;

import io.warmpath.routing.rates.SlotRates.Running;
import java.util.LinkedHashSet;
import java.util.function.Consumer;

/**
 * Requests whose first token will not be seen, and whose prompts are not computed yet: one after
 * the other, in the order in which they were sent, each in the time that its speed was learnt to
 * be. Confined to the monitor of {@link SlotRates}.
 */
final class Unseen {
    private static final double MEAN_WEIGHT = 1.0 / 16;
    private static final int LATER_PART = 4;
    private static final long LEAST_NANOS = 2_000_000;

    private final LinkedHashSet<Running> all = new LinkedHashSet<>();
    private long untilNanos = Long.MIN_VALUE;

    /** Nanoseconds of one of them, a mean over the last ones. */
    private double meanNanos;

    boolean isEmpty() {
        return all.isEmpty();
    }

    boolean contains(Running r) {
        return all.contains(r);
    }

    /** When the last of them should be done; {@link Long#MIN_VALUE}: there was none. */
    long untilNanos() {
        return untilNanos;
    }

    void forEach(Consumer<Running> action) {
        all.forEach(action);
    }

    void add(Running r, long now) {
        long from = untilNanos == Long.MIN_VALUE ? now : Math.max(now, untilNanos);
        untilNanos = from + nanos(r);
        meanNanos += (nanos(r) - meanNanos) * MEAN_WEIGHT;
        r.untilNanos = untilNanos;
        all.add(r);
    }

    private static long nanos(Running r) {
        return (long) (r.work.aheadMillis() * 1e6);
    }

    /** Nanoseconds until it should be done. */
    long nanos(Running r, long now) {
        return all.contains(r) ? Math.max(0, r.untilNanos - now) : 0;
    }

    /**
     * So many wait at the worker, in whose place others were thought to be done: what comes next
     * waits for them, too.
     *
     * @return false: no more than was known
     */
    boolean waiting(int more, long now) {
        long until = now + (long) (more * meanNanos);
        if (more <= all.size() || until <= untilNanos) {
            return false;
        }
        long by = until - Math.max(now, untilNanos);
        untilNanos = until;
        all.forEach(r -> r.untilNanos += by);
        return true;
    }

    /** It should be done by now, and has not shown that it is. */
    boolean isLate(Running r, long now) {
        return r.shows && all.contains(r) && r.untilNanos <= now;
    }

    /** It, and what is behind it, takes longer by a part of its time. */
    void later(Running r, long now) {
        long by = now + Math.max(LEAST_NANOS, nanos(r) / LATER_PART) - r.untilNanos;
        untilNanos += by;
        for (Running other : all) {
            if (other.number >= r.number) {
                other.untilNanos += by;
            }
        }
    }

    /** Forgets those that should be done by now. Returns the milliseconds that they took. */
    double computedBy(long now) {
        double millis = 0;
        while (!all.isEmpty() && all.getFirst().untilNanos <= now && !all.getFirst().shows) {
            millis += all.removeFirst().work.aheadMillis();
        }
        return millis;
    }

    /**
     * Forgets those up to this number: what is behind them is computed now. Returns the
     * milliseconds that they were to take.
     */
    double computedUpTo(long number, long now) {
        double millis = 0;
        long early = 0;
        while (!all.isEmpty() && all.getFirst().number <= number) {
            Running r = all.removeFirst();
            millis += r.work.aheadMillis();
            early = r.untilNanos - now;
        }
        sooner(early, Long.MIN_VALUE);
        return millis;
    }

    /** It is not computed any more, or it was: what was left of it takes no time. */
    void remove(Running r, long now) {
        if (all.remove(r)) {
            sooner(Math.min(nanos(r), r.untilNanos - now), r.number);
        }
    }

    /** Those behind {@code number}. */
    private void sooner(long nanos, long number) {
        if (nanos > 0) {
            untilNanos -= nanos;
            for (Running r : all) {
                if (r.number > number) {
                    r.untilNanos -= nanos;
                }
            }
        }
    }
}
