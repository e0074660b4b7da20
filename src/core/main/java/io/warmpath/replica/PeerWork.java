package io.warmpath.replica;

import io.warmpath.prefix.WorkerSlot;

/**
 * Whoever keeps a book of its own beside the load, told of the requests of other gateways that
 * count here. Any thread; must not wait.
 */
@FunctionalInterface
public interface PeerWork {
    /** One request. Each method at most once. */
    interface Running {
        void firstToken();

        void ended();
    }

    /** Nobody. */
    PeerWork NONE =
            (slot, prefillTokens, promptTokens, expectedOutput, prefilled) ->
                    new Running() {
                        @Override
                        public void firstToken() {}

                        @Override
                        public void ended() {}
                    };

    /**
     * So many gateways count from now on.
     *
     * @param place of this one among them, from 0; each has another one
     * @param gateways with this one
     */
    default void among(int place, int gateways) {}

    /**
     * It counts from now on.
     *
     * @param prefillTokens to compute of its prompt
     * @param expectedOutput tokens of its answer; 1 where it hands its prompt's KV cache to another
     *     worker, 0: not known
     * @param prefilled its first token has come already
     */
    Running began(
            WorkerSlot slot,
            int prefillTokens,
            int promptTokens,
            int expectedOutput,
            boolean prefilled);
}
