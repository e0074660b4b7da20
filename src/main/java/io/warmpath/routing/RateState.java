package io.warmpath.routing;

/**
 * One slot at one moment, as far as what was sent there tells. Immutable; times in nanoseconds of
 * the router's clock.
 *
 * @param pending streamed requests without a first token
 * @param pendingMillis their predicted prefill and loading
 * @param serviceSinceNanos since when the oldest of them can have been worked on
 * @param headMillis its predicted prefill and loading
 * @param blindUntilNanos when the prefill of requests whose first token is not seen will be done
 * @param requests running
 * @param promptTokens of the running ones
 * @param window number of the time window of {@code booked}
 * @param booked predicted work booked in this window, milliseconds
 * @param bookedBefore the same of the window before
 * @param prefillFactor observed time to first token against the predicted one
 * @param decodeFactor the same of decoding
 * @param hostRate tokens per second from host memory
 * @param poolRate tokens per second from slower tiers
 */
record RateState(
        int pending,
        double pendingMillis,
        long serviceSinceNanos,
        double headMillis,
        long blindUntilNanos,
        int requests,
        long promptTokens,
        long window,
        double booked,
        double bookedBefore,
        double prefillFactor,
        double decodeFactor,
        double hostRate,
        double poolRate) {
    /** Length of a time window, over which the share of booked time is taken. */
    static final long WINDOW_NANOS = 20_000_000_000L;

    private static final double NANOS_PER_MILLI = 1e6;

    /** A head is overdue after this many times its predicted work, and this long besides. */
    private static final double LATE_FACTOR = 4;

    private static final double LATE_MILLIS = 3000;

    static RateState idle(LatencyPriors p) {
        return new RateState(
                0,
                0,
                0,
                0,
                Long.MIN_VALUE,
                0,
                0,
                Long.MIN_VALUE,
                0,
                0,
                1,
                1,
                p.hostTokensPerSecond(),
                p.poolTokensPerSecond());
    }

    /** Prefill that a new request would wait for. */
    double waitMillis(long now) {
        double blind =
                blindUntilNanos == Long.MIN_VALUE
                        ? 0
                        : Math.max(0, (blindUntilNanos - now) / NANOS_PER_MILLI);
        return pending == 0
                ? blind
                : blind + Math.max(0, pendingMillis - Math.min(headMillis, servedMillis(now)));
    }

    /** How much longer than can be right the oldest request has been without its first token. */
    double overdueMillis(long now) {
        return pending == 0
                ? 0
                : Math.max(0, servedMillis(now) - LATE_FACTOR * headMillis - LATE_MILLIS);
    }

    private double servedMillis(long now) {
        return Math.max(0, (now - serviceSinceNanos) / NANOS_PER_MILLI);
    }

    /**
     * Work booked in the time of one window until now, milliseconds: all of this one and, as if it
     * had come evenly, the rest of the one before.
     *
     * @param current number of the window that is running
     * @param passed how much of it is over, 0..1
     */
    double bookedMillis(long current, double passed) {
        if (current == window) {
            return booked + bookedBefore * (1 - passed);
        }
        return current == window + 1 ? booked * (1 - passed) : 0;
    }

    double loadMillis(double hostTokens, double poolTokens) {
        return 1000 * (hostTokens / hostRate + poolTokens / poolRate);
    }
}
