package io.warmpath.replica;

import java.time.Duration;

/**
 * How gateways keep their views together.
 *
 * @param router number of this gateway, the same after a restart; no two running ones share it
 * @param epoch another one after every start
 * @param name for people, at most 64 bytes count
 * @param maxAge what a peer has told counts as long as it is certainly not older
 */
public record ReplicaOptions(long router, long epoch, String name, Duration maxAge) {
    /** Others hear of this one so often within {@link #maxAge} when nothing happens. */
    private static final int BEATS = 8;

    /** The first state after a start, a loss or a pause is asked for so often. */
    private static final int ASKS = 2;

    /** Times {@link #maxAge}. */
    private static final int LASTING = 10;

    public ReplicaOptions {
        if (maxAge.isNegative() || maxAge.isZero()) {
            throw new IllegalArgumentException("an age of " + maxAge + " is not positive");
        }
    }

    long maxAgeNanos() {
        return maxAge.toNanos();
    }

    /** What fell out for its age comes back when it is this young, so that it does not flutter. */
    long backNanos() {
        return maxAge.toNanos() / 4 * 3;
    }

    /** Without a peer's load for so long there is something wrong, which is worth a word. */
    long lastingNanos() {
        return maxAge.toNanos() * LASTING;
    }

    long beatNanos() {
        return Math.max(1, maxAge.toNanos() / BEATS);
    }

    long askNanos() {
        return Math.max(1, maxAge.toNanos() / ASKS);
    }
}
