package io.warmpath.net;

import java.util.function.LongSupplier;

/**
 * How often something may happen: so often at once, and so often a second for good. The time is
 * read only where none is left, so that the first burst after a while may be twice as long. One
 * thread.
 */
public final class Allowance {
    private static final long SECOND = 1_000_000_000;

    private final int most;
    private final int perSecond;
    private final LongSupplier nanoTime;
    private int left;
    private long since;

    /**
     * @param most at once, from 1
     * @param perSecond from 1
     * @param nanoTime as {@link System#nanoTime}
     */
    public Allowance(int most, int perSecond, LongSupplier nanoTime) {
        this.most = most;
        this.perSecond = perSecond;
        this.nanoTime = nanoTime;
        this.left = most;
        this.since = nanoTime.getAsLong();
    }

    /** It happens once more. Returns whether it may. */
    public boolean take() {
        if (left == 0) {
            long now = nanoTime.getAsLong();
            long seconds = Math.min(now - since, SECOND * most / perSecond);
            give((int) (seconds * perSecond / SECOND));
            if (left == 0) {
                return false;
            }
            since = now;
        }
        left--;
        return true;
    }

    /** So many more may happen, up to {@code most} in all. {@code more}: not negative. */
    public void give(int more) {
        left = Math.min(most, left + more);
    }
}
