package io.warmpath.sim.session;

import io.warmpath.sim.engine.SessionSlot;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A session that is not streaming: a tree of requests, each of which may go on from any complete
 * one. Its KV is cached and evicted like any other. Engine's thread only.
 */
final class BranchingSession extends Session {
    private final Map<String, Turn> turns = new HashMap<>();

    BranchingSession(RankSessions sessions, String id, @Nullable Long timeoutNanos) {
        super(sessions, id, timeoutNanos);
    }

    @Override
    SimSessionTurn begin(SessionParams params, String rid, int[] prompt) throws SessionRefused {
        String from = params.rid();
        Turn last = from == null ? null : turns.get(from);
        if (from != null && last == null) {
            throw new SessionRefused("Invalid request session id");
        }
        if (params.replace()) {
            if (last == null) {
                turns.clear();
            } else {
                forgetAfter(last);
            }
        }
        if (last != null && !last.complete) {
            throw new SessionRefused(
                    "Session request is appending to a request that hasn't finished.");
        }
        Turn turn = new Turn(last, last == null ? prompt : after(last, params, prompt));
        turns.put(rid, turn);
        return turn;
    }

    private int[] after(Turn last, SessionParams params, int[] prompt) {
        int[] past =
                params.dropPreviousOutput()
                        ? Arrays.copyOf(last.tokens, last.prompt.length)
                        : last.tokens;
        int kept = params.offset() == 0 ? past.length : Math.min(past.length, params.offset());
        return sessions.joined(past, kept, prompt);
    }

    private void forgetAfter(Turn last) {
        turns.values().removeIf(t -> t != last && t.comesAfter(last));
    }

    /** Nothing of it is held outside the tree, so closing never waits. */
    @Override
    boolean running() {
        return false;
    }

    @Override
    void release() {
        turns.clear();
    }

    private static final class Turn implements SimSessionTurn {
        private final @Nullable Turn before;
        private final int[] prompt;
        private int[] tokens;
        private boolean complete;

        Turn(@Nullable Turn before, int[] prompt) {
            this.before = before;
            this.prompt = prompt;
            this.tokens = prompt;
        }

        boolean comesAfter(Turn other) {
            for (Turn t = this; t != null; t = t.before) {
                if (t == other) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public int[] prompt() {
            return prompt;
        }

        @Override
        public @Nullable SessionSlot slot() {
            return null;
        }

        @Override
        public void finished(int[] all) {
            tokens = all;
            complete = true;
        }

        /** What it was asked stays; an aborted request is a finished one. */
        @Override
        public void aborted() {
            complete = true;
        }
    }
}
