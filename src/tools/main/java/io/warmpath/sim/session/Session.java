package io.warmpath.sim.session;

import org.jspecify.annotations.Nullable;

/** An opened session. Engine's thread only. */
abstract sealed class Session permits StreamingSession, BranchingSession {
    final RankSessions sessions;
    final String id;
    final @Nullable Long timeoutNanos;
    long lastTurn;

    /** To be closed when its request has ended. */
    boolean closing;

    Session(RankSessions sessions, String id, @Nullable Long timeoutNanos) {
        this.sessions = sessions;
        this.id = id;
        this.timeoutNanos = timeoutNanos;
    }

    abstract SimSessionTurn begin(SessionParams params, String rid, int[] prompt)
            throws SessionRefused;

    /** A request holds what closing would free. */
    abstract boolean running();

    /** Gives up what is held. */
    abstract void release();
}
