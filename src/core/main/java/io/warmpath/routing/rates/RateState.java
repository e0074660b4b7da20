package io.warmpath.routing.rates;

/**
 * One slot at one moment, as far as what was sent there tells. Immutable; times in nanoseconds of
 * the router's clock.
 *
 * @param pending streamed requests without a first token
 * @param pendingMillis their predicted prefill and loading, by the speed learnt when they were sent
 * @param serviceSinceNanos since when the oldest of them can have been worked on
 * @param underWayMillis the same of it and of those that are computed in the same step
 * @param blindUntilNanos when the prefill of requests whose first token is not seen will be done
 * @param requests running
 * @param promptTokens of the running ones
 * @param window number of the time window of {@code booked}
 * @param booked predicted work booked in this window, milliseconds
 * @param bookedBefore the same of the window before
 * @param prefill observed time to first token against the predicted one
 * @param decode the same of decoding
 * @param host the same of loading from host memory
 * @param pool the same of loading from slower tiers
 * @param again blocks computed although some engine had computed them before, against all
 */
public record RateState(
        int pending,
        double pendingMillis,
        long serviceSinceNanos,
        double underWayMillis,
        long blindUntilNanos,
        int requests,
        long promptTokens,
        long window,
        double booked,
        double bookedBefore,
        Ratio prefill,
        Ratio decode,
        Ratio host,
        Ratio pool,
        Ratio again) {
    /** Length of a time window, over which the share of booked time is taken. */
    static final long WINDOW_NANOS = 20_000_000_000L;

    /** One of these, with one ratio that the state before it has not, and the reference to it. */
    public static final int HEAP_BYTES = 4 + 128 + 32;

    /** Nothing was sent there. */
    public static final RateState IDLE =
            new RateState(
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
                    Ratio.NONE,
                    Ratio.NONE,
                    Ratio.NONE,
                    Ratio.NONE,
                    Ratio.NONE);

    /**
     * Seconds of samples that the fleet's factor weighs. With less a router learns its own queues
     * and runs from them.
     */
    private static final double PRIOR_SECONDS = 50;

    private static final double LOAD_PRIOR_SECONDS = 5;
    private static final double NANOS_PER_MILLI = 1e6;

    /** A head is overdue after this many times its predicted work, and this long besides. */
    private static final double LATE_FACTOR = 4;

    private static final double LATE_MILLIS = 3000;

    /** Prefill that a new request would wait for. */
    public double waitMillis(long now) {
        double blind =
                blindUntilNanos == Long.MIN_VALUE
                        ? 0
                        : Math.max(0, (blindUntilNanos - now) / NANOS_PER_MILLI);
        return pending == 0
                ? blind
                : blind + Math.max(0, pendingMillis - Math.min(underWayMillis, servedMillis(now)));
    }

    /** How much longer than can be right the oldest request has been without its first token. */
    public double overdueMillis(long now) {
        return pending == 0
                ? 0
                : Math.max(0, servedMillis(now) - LATE_FACTOR * underWayMillis - LATE_MILLIS);
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

    public double prefillFactor(FleetRates fleet) {
        return prefill.factor(fleet.prefillFactor(), PRIOR_SECONDS);
    }

    public double decodeFactor(FleetRates fleet) {
        return decode.factor(fleet.decodeFactor(), PRIOR_SECONDS);
    }

    public double loadMillis(
            LatencyPriors priors, FleetRates fleet, int hostTokens, int poolTokens) {
        double millis = 0;
        if (hostTokens > 0) {
            millis +=
                    priors.hostMillis(hostTokens)
                            * host.factor(fleet.hostFactor(), LOAD_PRIOR_SECONDS);
        }
        if (poolTokens > 0) {
            millis +=
                    priors.poolMillis(poolTokens)
                            * pool.factor(fleet.poolFactor(), LOAD_PRIOR_SECONDS);
        }
        return millis;
    }
}
