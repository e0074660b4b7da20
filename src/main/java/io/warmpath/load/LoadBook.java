package io.warmpath.load;

import io.warmpath.prefix.WorkerSlot;

/**
 * What is running where, as far as this gateway has sent it. Any thread, no blocking.
 *
 * <p>Booked when a worker is picked; prefill completes at the first token; freed at the end, on
 * error and on cancel. Every booking must be closed exactly once; closing twice is harmless.
 */
public interface LoadBook {
    /**
     * @param prefillTokens prompt tokens the worker has to compute (prompt minus predicted cached)
     * @param blocks KV blocks the request will occupy
     */
    Booking book(WorkerSlot slot, int prefillTokens, int blocks);

    /** Load of one slot now. */
    WorkerLoad load(WorkerSlot slot);

    /** Bookings that are open, over all slots. */
    long open();

    /** One request's share of a worker. Any thread. */
    interface Booking extends AutoCloseable {
        /** The first token arrived: its prefill tokens are done. Idempotent. */
        void firstToken();

        /** The request left the worker. Idempotent; implies {@link #firstToken}. */
        @Override
        void close();
    }
}
