package io.warmpath.routing.rates;

/**
 * A request that went to the worker it was decided for; told what becomes of it. Any thread, each
 * method at most once, in this order.
 */
public interface Sent {
    /** For routers that learn nothing from it. */
    Sent UNSEEN =
            new Sent() {
                @Override
                public void firstToken() {}

                @Override
                public void ended(long outputTokens) {}
            };

    /** The answer's first token came; not called when the answer is not one, or not streamed. */
    void firstToken();

    /**
     * The request left the worker, in whatever way.
     *
     * @param outputTokens tokens of the answer; negative when not known
     */
    void ended(long outputTokens);
}
