package io.warmpath.pool;

/**
 * How the way to one pool is doing, for metrics and reports.
 *
 * @param breaker whether it is asked at all
 * @param lastFailure why it was not answered the last time; empty while it is
 * @param asked questions that were sent to the master, in part at least
 * @param answeredFromCache questions answered without it
 * @param failed questions without an answer
 * @param pagesLookedUp in the cache
 * @param pagesFound of these, known there
 */
public record PoolStanding(
        BreakerState breaker,
        String lastFailure,
        long asked,
        long answeredFromCache,
        long failed,
        long pagesLookedUp,
        long pagesFound) {
    /** Whether the pool's master is asked. */
    public enum BreakerState {
        /** It answers. */
        CLOSED,
        /** It failed again and again, and is left alone for a while. */
        OPEN,
        /** One question is let through to see. */
        TRYING
    }
}
