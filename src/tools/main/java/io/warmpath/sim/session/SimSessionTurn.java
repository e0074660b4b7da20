package io.warmpath.sim.session;

import io.warmpath.sim.engine.SessionSlot;
import org.jspecify.annotations.Nullable;

/**
 * One request as its session sees it. Exactly one of {@link #finished} and {@link #aborted} has to
 * be called. Engine's thread only.
 */
public interface SimSessionTurn {
    /** The whole prompt: what the session remembers, then what the request brought. */
    int[] prompt();

    /** Where the KV is kept between the turns; null for all but streaming sessions. */
    @Nullable SessionSlot slot();

    /** The answer is complete. {@code tokens}: prompt and answer. */
    void finished(int[] tokens);

    /** The client has left, or the request was never started. */
    void aborted();

    /** A request without any session. */
    record Plain(int[] prompt) implements SimSessionTurn {
        @Override
        public @Nullable SessionSlot slot() {
            return null;
        }

        @Override
        public void finished(int[] tokens) {}

        @Override
        public void aborted() {}
    }
}
