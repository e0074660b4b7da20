package io.warmpath.upstream;

/** One running call. All methods on the event loop that started it. */
public interface UpstreamCall {
    /**
     * Ends the call at once, whatever it is doing; the engine sees its connection reset and stops
     * generating. No callback follows. Harmless when the call is over.
     */
    void cancel();

    /**
     * Stops reading from the engine. What was read already may still come as one {@code data}. The
     * idle time-out goes on: a client that takes nothing for that long is given up.
     */
    void pause();

    /**
     * Calls {@code watch} when the worker is unwell ({@link EngineClient#unwell}) or has left, and
     * the call waits for it in vain; not while it is paused.
     */
    void watchedBy(Watch watch);

    /** Who can do something about a worker that is silent and unwell, or has left. */
    @FunctionalInterface
    interface Watch {
        /**
         * The call goes on, and this is called again, unless it is cancelled or the worker lost.
         */
        void silent();

        /**
         * Another worker than the one that was asked gives the answer; said before its head, and
         * only by what sends elsewhere on its own.
         */
        default void answeredBy(long worker) {}
    }

    /** Reads on after {@link #pause}. */
    void resume();

    /**
     * The call ran on a connection that had served another call before. When such a connection
     * breaks before the first byte of an answer, the engine may simply have closed it while idle.
     */
    boolean reusedConnection();
}
