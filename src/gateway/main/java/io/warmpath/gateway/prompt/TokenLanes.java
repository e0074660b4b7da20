package io.warmpath.gateway.prompt;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Threads for what no event loop does: reading and tokenising long prompts. Two lanes with threads
 * of their own, so that a prompt of megabytes does not stand in the way of a small one. Any thread.
 * Queues are bounded: a full one throws {@link RejectedExecutionException} at once.
 */
public interface TokenLanes {
    /** Work of a few milliseconds at most. */
    void brief(Runnable work);

    /** Work that may take longer. */
    void lengthy(Runnable work);

    /** Without a second lane. */
    static TokenLanes of(Executor one) {
        return new TokenLanes() {
            @Override
            public void brief(Runnable work) {
                one.execute(work);
            }

            @Override
            public void lengthy(Runnable work) {
                one.execute(work);
            }
        };
    }
}
