package io.warmpath.gateway.flow;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * Allows repeats (retries, or hedges) up to a fraction of the requests of the last ten seconds, and
 * a few each second without any request, so that a gateway with little traffic may repeat too. Any
 * thread, without locks; two threads at the limit may both pass it.
 */
final class RetryBudget {
    private static final int SECONDS = 10;

    private final double fraction;
    private final int perSecond;
    private final LongSupplier nanoTime;

    /** One entry a second: the second in the upper half, the count in the lower. */
    private final AtomicLongArray requests = new AtomicLongArray(SECONDS);

    private final AtomicLongArray done = new AtomicLongArray(SECONDS);
    private final long began;

    /**
     * @param fraction of requests, 0 to 1
     * @param perSecond what is allowed without any request
     * @param nanoTime as {@link System#nanoTime}
     */
    RetryBudget(double fraction, int perSecond, LongSupplier nanoTime) {
        if (!(fraction >= 0 && fraction <= 1) || perSecond < 0) {
            throw new IllegalArgumentException(
                    fraction + " of requests, " + perSecond + " a second");
        }
        this.fraction = fraction;
        this.perSecond = perSecond;
        this.nanoTime = nanoTime;
        this.began = nanoTime.getAsLong();
    }

    /** A request has come. */
    void request() {
        add(requests, second());
    }

    /** Takes one repeat from the budget; false when it is used up. */
    boolean take() {
        int now = second();
        double allowed = fraction * sum(requests, now) + (double) perSecond * SECONDS;
        if (sum(done, now) + 1 > allowed) {
            return false;
        }
        add(done, now);
        return true;
    }

    private int second() {
        return (int) ((nanoTime.getAsLong() - began) / 1_000_000_000L);
    }

    private static void add(AtomicLongArray counts, int second) {
        counts.updateAndGet(
                second % SECONDS, old -> (int) (old >>> 32) == second ? old + 1 : one(second));
    }

    private static long one(int second) {
        return ((long) second << 32) + 1;
    }

    private static long sum(AtomicLongArray counts, int now) {
        long sum = 0;
        for (int i = 0; i < SECONDS; i++) {
            long entry = counts.get(i);
            if (now - (int) (entry >>> 32) < SECONDS) {
                sum += entry & 0xffff_ffffL;
            }
        }
        return sum;
    }
}
