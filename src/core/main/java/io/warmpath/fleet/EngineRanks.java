package io.warmpath.fleet;

/**
 * How an engine numbers the data-parallel ranks of a worker. The gateway counts them from 0, and so
 * does an engine where a request names one. A vLLM that holds part of a group's ranks counts
 * through the whole group in its events, gauges and event sockets. Immutable.
 *
 * @param count of the worker's ranks; 0: not known
 * @param first the engine's number of the worker's rank 0
 * @param bySocket a batch of events with a number that is none of these belongs to the rank of its
 *     socket; else it is nobody's
 */
public record EngineRanks(int count, int first, boolean bySocket) {
    /** Throws {@link IllegalArgumentException} where no engine has so many. */
    public EngineRanks {
        WorkerSpec.requireRanks(count);
    }

    /** An engine that counts from 0. One that is alone takes events of any number. */
    public static EngineRanks of(int count) {
        return new EngineRanks(count, 0, count == 1);
    }

    /** The worker's rank that the engine gives this number; negative: the worker has none. */
    public int local(int number) {
        int rank = number - first;
        return rank < count ? rank : -1;
    }
}
