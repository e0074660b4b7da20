package io.warmpath.sim;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * What an engine holds and has done.
 *
 * @param connections open HTTP connections
 * @param requests completion requests received, failed ones included
 * @param rooms in which halves of requests wait for each other
 */
public record SimStats(int connections, long requests, int rooms, List<RankStats> ranks) {
    /**
     * One rank.
     *
     * @param gpuUsedBlocks cached and reserved
     * @param gpuIdleBlocks cached, needed by no request
     * @param publishedBatches numbered batches, dropped ones included
     */
    public record RankStats(
            int running,
            int waiting,
            int gpuUsedBlocks,
            int gpuIdleBlocks,
            int gpuCachedBlocks,
            int hostCachedBlocks,
            int pinnedBlocks,
            long queriedTokens,
            long hitTokens,
            long promptTokens,
            long generatedTokens,
            long finished,
            long aborted,
            long publishedBatches,
            long droppedBatches) {}

    /** One number added up over the ranks. */
    public long sum(ToLongFunction<RankStats> field) {
        return ranks.stream().mapToLong(field).sum();
    }
}
