package io.warmpath.adapter.zmq;

/**
 * Spreads a look at each of many sources over a period, so that no event waits for all of them: at
 * a thousand that is a millisecond. Pure. One thread.
 */
final class TickRound {
    private final long periodNanos;
    private long began;
    private int done;

    TickRound(long periodNanos, long now) {
        this.periodNanos = periodNanos;
        this.began = now;
    }

    /**
     * Which to look at now: those from {@link #from} to before the number returned. All are due
     * once the period is over; then the next one begins.
     *
     * @param count of all, which may have changed
     */
    int until(long now, int count) {
        long passed = now - began;
        if (passed >= periodNanos) {
            return count;
        }
        // What left meanwhile is not counted: the rest is looked at a little late, or early.
        return Math.max(Math.min(done, count), (int) (passed * count / periodNanos));
    }

    /** The first that was not looked at in this period. */
    int from() {
        return done;
    }

    /** They were looked at. */
    void looked(int until, long now) {
        done = until;
        if (now - began >= periodNanos) {
            done = 0;
            began = now;
        }
    }
}
