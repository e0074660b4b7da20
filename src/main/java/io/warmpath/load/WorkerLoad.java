package io.warmpath.load;

/**
 * Booked load of one (worker, rank).
 *
 * @param prefillTokens tokens still to be prefilled
 * @param blocks KV blocks of running requests
 * @param requests running requests
 */
public record WorkerLoad(long prefillTokens, long blocks, int requests) {
    public static final WorkerLoad IDLE = new WorkerLoad(0, 0, 0);
}
