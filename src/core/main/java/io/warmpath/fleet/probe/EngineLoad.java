package io.warmpath.fleet.probe;

import io.warmpath.fleet.Worker;
import org.jspecify.annotations.Nullable;

/**
 * What an engine says one of its ranks is doing now, whoever has sent it.
 *
 * @param running requests
 * @param waiting requests in its queue
 * @param usedTokens in KV blocks of these requests; negative: not told
 * @param usage share of its KV blocks in use; negative: not told
 * @param moved KV cache that came from other engines; null: not told
 * @param adapters null: it has none, or does not tell
 */
public record EngineLoad(
        int dpRank,
        int running,
        int waiting,
        long usedTokens,
        double usage,
        @Nullable MovedKv moved,
        @Nullable AdapterSlots adapters) {
    /** No engine has more requests at once, or tokens: more is told by mistake. */
    private static final int MOST_REQUESTS = 1_000_000;

    private static final long MOST_TOKENS = 1L << 40;

    /** Shares are rounded, and counted a moment before or after the blocks. */
    private static final double MOST_USAGE = 2;

    /** What no engine can do is not told. */
    public EngineLoad {
        running = running < 0 || running > MOST_REQUESTS ? 0 : running;
        waiting = waiting < 0 || waiting > MOST_REQUESTS ? 0 : waiting;
        usedTokens = usedTokens > MOST_TOKENS ? -1 : usedTokens;
        usage = usage <= MOST_USAGE ? usage : -1; // NaN, too
    }

    public EngineLoad(int dpRank, int running, int waiting, long usedTokens, double usage) {
        this(dpRank, running, waiting, usedTokens, usage, null, null);
    }

    /** The same of the rank of another number. */
    public EngineLoad as(int rank) {
        return new EngineLoad(rank, running, waiting, usedTokens, usage, moved, adapters);
    }

    public int requests() {
        return running + waiting;
    }

    /** KV blocks in use; 0 when neither engine nor worker tell enough. */
    public double blocks(Worker worker) {
        if (usedTokens >= 0 && worker.blockSize() > 0) {
            return usedTokens / (double) worker.blockSize();
        }
        return usage >= 0 ? usage * worker.capacity().kvBlocks() : 0;
    }
}
