package io.warmpath.sim.session;

import io.warmpath.sim.engine.SessionSlot;
import org.jspecify.annotations.Nullable;

/**
 * A session that only grows: one request at a time, each after the last complete one. What an
 * aborted request brought is forgotten, and with it the KV of all turns: the next one computes the
 * past again. Engine's thread only.
 */
final class StreamingSession extends Session {
    private final SessionSlot slot = new SessionSlot();
    private int @Nullable [] past;
    private boolean inFlight;

    StreamingSession(RankSessions sessions, String id, @Nullable Long timeoutNanos) {
        super(sessions, id, timeoutNanos);
    }

    @Override
    SimSessionTurn begin(SessionParams params, String rid, int[] prompt) throws SessionRefused {
        if (inFlight) {
            throw new SessionRefused("Streaming session already has an active request.");
        }
        if (params.replace()) {
            throw new SessionRefused("Streaming sessions do not support replace.");
        }
        if (params.dropPreviousOutput()) {
            throw new SessionRefused("Streaming sessions do not support drop_previous_output.");
        }
        if (params.offset() != 0) {
            throw new SessionRefused("Streaming sessions do not support offset.");
        }
        inFlight = true;
        return new Turn(past == null ? prompt : sessions.joined(past, past.length, prompt));
    }

    @Override
    boolean running() {
        return inFlight;
    }

    @Override
    void release() {
        sessions.scheduler().free(slot);
    }

    private final class Turn implements SimSessionTurn {
        private final int[] prompt;

        Turn(int[] prompt) {
            this.prompt = prompt;
        }

        @Override
        public int[] prompt() {
            return prompt;
        }

        @Override
        public SessionSlot slot() {
            return slot;
        }

        @Override
        public void finished(int[] tokens) {
            past = tokens;
            aborted();
        }

        @Override
        public void aborted() {
            inFlight = false;
            sessions.turnEnded(StreamingSession.this);
        }
    }
}
