package io.warmpath.routing;

import io.warmpath.fleet.Candidate;

/**
 * One candidate's terms. Depths are cumulative blocks as in {@code PrefixMatch}, of the candidate's
 * own block size. Prefill, decode and cost are in blocks too; where the candidates' block sizes
 * differ, in blocks of the smallest among them.
 *
 * @param cachedTokens prompt tokens predicted to be cached (whole blocks, last-token rule applied)
 * @param prefillTokens prompt tokens the worker would have to compute
 * @param prefillBlocks (booked + new prefill tokens) / block size, where a cached block of a slower
 *     tier counts as a part of one
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
