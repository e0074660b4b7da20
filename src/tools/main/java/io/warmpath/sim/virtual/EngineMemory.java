package io.warmpath.sim.virtual;

import org.jspecify.annotations.Nullable;

/**
 * What requests find in an engine's memory and what they leave there: the device's blocks and,
 * where there is any, host memory behind it, and a pool of the fleet behind that. One thread. A
 * request takes room for prompt and answer when it is admitted. Blocks can be used by others from
 * the moment they are {@link #fill filled}; they stay when it ends, until their room is needed.
 */
final class EngineMemory<J extends Job> {
    private final int blockTokens;
    private final BlockCache cache;
    private final @Nullable BlockStore host;
    private final @Nullable BlockStore pool;
    private final EngineWatcher<J> watcher;

    /**
     * @param hostBlocks room in host memory; 0: there is none
     * @param pool null: there is none
     */
    EngineMemory(
            int blockTokens,
            BlockCache cache,
            int hostBlocks,
            @Nullable BlockStore pool,
            EngineWatcher<J> watcher) {
        this.blockTokens = blockTokens;
        this.cache = cache;
        this.host = hostBlocks > 0 ? new BlockStore(hostBlocks) : null;
        this.pool = pool;
        this.watcher = watcher;
    }

    BlockCache cache() {
        return cache;
    }

    /** Throws {@link IllegalArgumentException} when there can never be room for it. */
    void require(Job job) {
        if (blocksOf(job) > cache.capacity()) {
            throw new IllegalArgumentException(
                    "a request of %s and %s tokens does not fit into %s blocks of %s"
                            .formatted(
                                    job.promptTokens,
                                    job.answerTokens,
                                    cache.capacity(),
                                    blockTokens));
        }
    }

    /** Prompt tokens that lie on the device. */
    int cachedTokens(J job) {
        return cache.depth(job.blocks, mostHits(job)) * blockTokens;
    }

    /** Takes what is there of the prompt and room for the rest; false when there is not enough. */
    boolean admit(J job) {
        int most = mostHits(job);
        int all = blocksOf(job);
        int hits = cache.acquire(job.blocks, most, all, job.places);
        if (hits < 0) {
            return false;
        }
        if (cache.evicted().size() > 0) {
            watcher.removed(false, cache.evicted());
            cache.forgetEvicted();
        }
        job.named = hits;
        job.unfilled = all - hits;
        int inHost = host == null ? 0 : host.depth(job.blocks, hits, most);
        int inPool = pool == null ? 0 : pool.depth(job.blocks, hits + inHost, most);
        job.loadTokens = inHost * blockTokens;
        job.fetchTokens = inPool * blockTokens;
        job.done = (hits + inHost + inPool) * blockTokens;
        job.cachedTokens = job.done;
        return true;
    }

    /** Blocks up to this token are full. */
    void fill(J job, int tokens) {
        int to = Math.min(job.blocks.length, tokens / blockTokens);
        if (to <= job.named) {
            return;
        }
        int run = job.named;
        int from = job.named;
        for (int i = from; i < to; i++) {
            if (!cache.commit(job.blocks, i, job.places)) {
                tell(false, job, run, i);
                run = i + 1;
            }
        }
        tell(false, job, run, to);
        job.unfilled -= to - from;
        job.named = to;
        if (host != null) {
            writeThrough(host, job, from, to);
        }
        if (pool != null) {
            for (int i = to - 1; i >= from; i--) { // the root is the last to go
                pool.keep(job.blocks[i]);
            }
            pool.evicted().clear();
        }
    }

    /** It is over: all is full but for the last token, which no step had to read any more. */
    void end(J job) {
        fill(job, job.promptTokens + job.answerTokens - 1);
        cache.release(job.places, job.named, job.unfilled);
    }

    private void writeThrough(BlockStore memory, J job, int from, int to) {
        int run = from;
        for (int i = from; i < to; i++) {
            if (memory.holds(job.blocks[i])) {
                tell(true, job, run, i);
                run = i + 1;
            }
        }
        tell(true, job, run, to);
        for (int i = to - 1; i >= 0; i--) { // the root is the last to go
            memory.keep(job.blocks[i]);
        }
        if (memory.evicted().size() > 0) {
            watcher.removed(true, memory.evicted());
            memory.evicted().clear();
        }
    }

    private void tell(boolean inHost, J job, int from, int to) {
        if (to > from) {
            watcher.stored(inHost, job.blocks, from, to);
        }
    }

    private int blocksOf(Job job) {
        return Math.ceilDiv(job.promptTokens + job.answerTokens, blockTokens);
    }

    /** The last token of a prompt is always computed. */
    private int mostHits(Job job) {
        return Math.min(job.blocks.length, (job.promptTokens - 1) / blockTokens);
    }
}
