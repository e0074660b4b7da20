package io.warmpath.routing;

import io.warmpath.fleet.Candidate;

/**
 * One candidate's terms. Depths are cumulative blocks as in {@code PrefixMatch}, of the candidate's
 * own block size. Prefill and decode are in blocks too; where the candidates' block sizes differ,
 * in blocks of the smallest among them.
 *
 * @param poolBlocks of a shared pool that go on without a gap where the candidate's own tiers end
 * @param cachedTokens prompt tokens that the engine is predicted to report as cached: whole blocks
 *     of its tiers and of the pool, but the last token, which is always computed; where a request
 *     has several prompts or answers, what engines report of those ({@link ReportedCache})
 * @param prefillTokens what is booked: prompt tokens to compute, where one cached in a slower tier
 *     counts as a part of one; 0 when prefill is not tracked
 * @param prefillBlocks (booked + new prefill tokens) / block size, less the credit for what is
 *     cached
 * @param decodeBlocks active blocks if the request goes there
 * @param cost of the model in use; lower wins
 */
public record Score(
        Candidate candidate,
        int gpuBlocks,
        int hostBlocks,
        int diskBlocks,
        int externalBlocks,
        int poolBlocks,
        int cachedTokens,
        int prefillTokens,
        double prefillBlocks,
        double decodeBlocks,
        double cost) {
    Score withCost(double other) {
        return with(cachedTokens, other);
    }

    Score withCached(int other) {
        return other == cachedTokens ? this : with(other, cost);
    }

    private Score with(int cached, double otherCost) {
        return new Score(
                candidate,
                gpuBlocks,
                hostBlocks,
                diskBlocks,
                externalBlocks,
                poolBlocks,
                cached,
                prefillTokens,
                prefillBlocks,
                decodeBlocks,
                otherCost);
    }

    /** For people: what each tier holds beyond those before it. */
    public TierBlocks tiers() {
        return TierBlocks.of(gpuBlocks, hostBlocks, diskBlocks, externalBlocks, poolBlocks);
    }
}
