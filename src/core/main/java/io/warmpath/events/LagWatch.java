package io.warmpath.events;

/** Notices batches that come faster than they are applied, for longer than a moment. One thread. */
final class LagWatch {
    /** Batches may wait so long to be applied before the source counts as lagging. */
    private static final long LAG_NANOS = 100_000_000;

    private final SourceStanding standing;
    private boolean behind;
    private long behindSince;

    LagWatch(SourceStanding standing) {
        this.standing = standing;
    }

    /**
     * The live stream has been read, as far as its turn allowed.
     *
     * @param more whether some was left
     */
    void drained(boolean more, long now) {
        if (more && !behind) {
            behindSince = now;
        }
        behind = more;
        boolean lags = more && now - behindSince >= LAG_NANOS;
        if (lags != standing.lagging) {
            standing.lagging = lags;
            standing.settle(lags ? "batches come faster than they are applied" : "caught up");
        }
    }
}
