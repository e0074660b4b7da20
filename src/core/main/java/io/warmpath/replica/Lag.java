package io.warmpath.replica;

/**
 * Whether the times without a peer's load are worth a word. A single drop-out is not: a busy
 * machine holds a process up for a tenth of a second now and then, and what counts in decisions is
 * right all the same. What lasts is, and so is what comes back too often: time without the load
 * adds up, time with it takes a quarter of itself away. Not thread-safe.
 */
final class Lag {
    private static final int RELIEF = 4;

    private final long limitNanos;
    private long last;
    private long sum;
    private boolean lasting;

    /** What there is to be said. */
    enum Change {
        NONE,
        /** The load is missing for too long. */
        BEGUN,
        /** It has counted for long enough since. */
        OVER
    }

    /**
     * @param limitNanos so much time without the load is worth a word
     * @param now of the same clock as later times
     */
    Lag(long limitNanos, long now) {
        this.limitNanos = limitNanos;
        this.last = now;
    }

    /** The time since the last look has passed with the peer's load, or without it. */
    Change passed(boolean counted, long now) {
        long since = now - last;
        last = now;
        sum = counted ? Math.max(0, sum - since / RELIEF) : Math.min(limitNanos, sum + since);
        if (!lasting && sum >= limitNanos) {
            lasting = true;
            return Change.BEGUN;
        }
        if (lasting && sum == 0) {
            lasting = false;
            return Change.OVER;
        }
        return Change.NONE;
    }

    /** The time since the last look says nothing of the peer: there was no link to it. */
    void skip(long now) {
        last = now;
    }
}
