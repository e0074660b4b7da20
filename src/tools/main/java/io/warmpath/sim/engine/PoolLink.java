package io.warmpath.sim.engine;

import io.warmpath.sim.cache.PagePool;

/**
 * The way to a pool that engines share.
 *
 * @param pages what is there
 * @param tokensPerSecond moved, each way
 */
public record PoolLink(PagePool pages, double tokensPerSecond) {
    public PoolLink {
        if (!(tokensPerSecond > 0)) {
            throw new IllegalArgumentException("pool rate must be above 0");
        }
    }

    long fetchNanos(int tokens) {
        return (long) (tokens / tokensPerSecond * 1e9);
    }
}
