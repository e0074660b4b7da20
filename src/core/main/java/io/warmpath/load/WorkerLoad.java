package io.warmpath.load;

/**
 * Load of one (worker, rank): what is booked, and what its engine has running beyond that.
 *
 * @param prefillTokens tokens still to be prefilled
 * @param blocks KV blocks of running requests, shared prefixes once; a fraction when some decay
 * @param requests running requests
 */
public record WorkerLoad(long prefillTokens, double blocks, int requests) {
    public static final WorkerLoad IDLE = new WorkerLoad(0, 0, 0);
}
