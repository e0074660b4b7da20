package io.warmpath.session;

/**
 * Told of bindings and open sessions that other gateways should know. Any thread; must not wait.
 */
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

                @Override
                public void opened(
                        SessionName session, int opening, int timeoutSeconds, boolean staysOnly) {}

                @Override
                public void closed(SessionName session, int opening) {}
            };

    /** What others know the session by. */
    SessionName name(SessionKey key);

    /** {@code moved}: from another rank; else it is bound since now, or still. */
    void bound(SessionName session, long worker, int dpRank, boolean moved);

    void ended(SessionName session);

    /**
     * A session that its client has opened is in the hands of this gateway.
     *
     * @param opening tells it from another one of the same name
     */
    void opened(SessionName session, int opening, int timeoutSeconds, boolean staysOnly);

    /** It is over, or its client has closed it here while another gateway had it. */
    void closed(SessionName session, int opening);
}
