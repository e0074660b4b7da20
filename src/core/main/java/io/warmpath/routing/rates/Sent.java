package io.warmpath.routing.rates;

/**
 * A request that went to the worker it was decided for; told what becomes of it. Any thread; a
 * first token and its end at most once each, in this order.
 */
public interface Sent {
    /** Of {@link #prefillNanos}: its first token tells, or no speed is learnt. */
    long NOT_KNOWN = Long.MAX_VALUE;

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

    /**
     * When the prompt should be computed, where no first token will show it: by the speed that was
     * learnt, and sooner where what the worker has done since shows that it was faster. May be
     * asked at any time.
     *
     * @return nanoseconds from now; 0: it should be computed by now; {@link #NOT_KNOWN}
     */
    default long prefillNanos() {
        return NOT_KNOWN;
    }

    /**
     * {@link #prefilled} will follow when the worker has shown it: until then the prompt is not
     * computed, whatever its speed says. To be called at once, or not at all.
     */
    default void willShow() {}

    /** The worker itself has shown that the prompt is computed, before any part of its answer. */
    default void prefilled() {}
}
