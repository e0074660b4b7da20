package io.warmpath.sim.engine;

/** What a rank has done since its start. Engine's thread only; totals only grow. */
public final class RankCounters {
    long queriedTokens;
    long hitTokens;
    long promptTokens;
    long generatedTokens;
    long finished;
    long aborted;

    /** Prompt tokens looked up in the cache. */
    public long queriedTokens() {
        return queriedTokens;
    }

    /** Of those, found. */
    public long hitTokens() {
        return hitTokens;
    }

    public long promptTokens() {
        return promptTokens;
    }

    public long generatedTokens() {
        return generatedTokens;
    }

    public long finished() {
        return finished;
    }

    public long aborted() {
        return aborted;
    }
}
