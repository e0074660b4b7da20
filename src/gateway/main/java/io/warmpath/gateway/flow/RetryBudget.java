package io.warmpath.gateway.flow;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * Lets something be done at most for a share of the requests of the last ten seconds, and some
 * times a second anyway, so that a quiet gateway may do it too.
 *
 * <p>Any thread, without locks; two threads at the limit may both pass it.
 */
public final class RetryBudget {
    private static final int SECONDS = 10;

    private final double share;
    private final int perSecond;
    private final LongSupplier nanoTime;

    /** One entry a second: the second in the upper half, the count in the lower. */
    private final AtomicLongArray requests = new AtomicLongArray(SECONDS);

    private final AtomicLongArray done = new AtomicLongArray(SECONDS);
    private final long began;

    /**
     * @param share of requests, 0 to 1
     * @param perSecond what is allowed without any request
     * @param nanoTime as {@link System#nanoTime}
     */
    public RetryBudget(double share, int perSecond, LongSupplier nanoTime) {
        if (!(share >= 0 && share <= 1) || perSecond < 0) {
            throw new IllegalArgumentException(share + " of requests, " + perSecond + " a second");
        }
        this.share = share;
        this.perSecond = perSecond;
        this.nanoTime = nanoTime;
        this.began = nanoTime.getAsLong();
    }

    /** A request has come. */
    void request() {
        add(requests, second());
    }

    /** It may be done once more, and is. */
    boolean take() {
        int now = second();
        double allowed = share * sum(requests, now) + (double) perSecond * SECONDS;
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
