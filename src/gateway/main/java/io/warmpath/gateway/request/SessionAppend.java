package io.warmpath.gateway.request;

/**
 * The part of a prompt that an engine's session does not hold yet.
 *
 * @param session as the engine knows it
 * @param ids what is new
 * @param outcome gets the result, at most once, on the request's event loop
 */
public record SessionAppend(String session, int[] ids, Outcome outcome) {
    /** How it went. */
    public interface Outcome {
        /**
         * The engine holds prompt and answer now.
         *
         * @param promptTokens as the engine counts them, with what it held before
         * @param answer its ids
         * @param completionTokens as the engine counts them
         */
        void answered(long promptTokens, int[] answer, long completionTokens);

        /** The engine does not know the session, or is busy with it. */
        void refused();
    }
}
