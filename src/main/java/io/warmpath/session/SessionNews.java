package io.warmpath.session;

/** Told of bindings that other gateways should know. Any thread; must not wait. */
public interface SessionNews {
    /** Nobody wants to know. */
    SessionNews NONE =
            new SessionNews() {
                @Override
                public SessionName name(SessionKey key) {
                    throw new IllegalStateException("nobody wants to know");
                }

                @Override
                public void bound(SessionName session, long worker, int dpRank, boolean moved) {}

                @Override
                public void ended(SessionName session) {}
            };

    /** What others know the session by. */
    SessionName name(SessionKey key);

    /**
     * @param moved from another rank; else it is bound since now, or still
     */
    void bound(SessionName session, long worker, int dpRank, boolean moved);

    void ended(SessionName session);
}
