package io.warmpath.routing;

import io.warmpath.fleet.Candidate;

/**
 * One candidate's terms. Depths are cumulative blocks as in {@code PrefixMatch}.
 *
 * @param cachedTokens prompt tokens predicted to be cached (whole blocks, last-token rule applied)
 * @param prefillTokens prompt tokens the worker would have to compute
 * @param prefillBlocks (booked + new prefill tokens) / block size
 * @param decodeBlocks active blocks if the request goes there
 * @param cost {@code overlap_weight * prefillBlocks + decodeBlocks}; lower wins
 */
public record Score(
        Candidate candidate,
        int gpuBlocks,
        int hostBlocks,
        int diskBlocks,
        int externalBlocks,
        int cachedTokens,
        int prefillTokens,
        double prefillBlocks,
        double decodeBlocks,
        double cost) {}
