package io.warmpath.session;

/**
 * What a turn says about the engine's session it belongs to ({@code nvext.session_control}).
 *
 * @param id as the client gave it, 1 to {@link #MAX_ID} characters
 * @param timeoutSeconds an opened session ends when nothing was heard of it for so long
 */
public record SessionControl(String id, Action action, int timeoutSeconds) {
    public static final int MAX_ID = 256;
    public static final int DEFAULT_TIMEOUT_SECONDS = 300;

    /** A day: a worker holds the session's tokens outside eviction for that long. */
    public static final int MAX_TIMEOUT_SECONDS = 86_400;

    public SessionControl {
        if (id.isEmpty() || id.length() > MAX_ID) {
            throw new IllegalArgumentException("session id of " + id.length() + " characters");
        }
        if (timeoutSeconds < 1 || timeoutSeconds > MAX_TIMEOUT_SECONDS) {
            throw new IllegalArgumentException("session timeout " + timeoutSeconds + " s");
        }
    }

    /** What is to become of the session. */
    public enum Action {
        /** A further turn: goes where the session is. */
        CONTINUE,
        /** The first turn: a worker is chosen and the session opened there before it is sent. */
        OPEN,
        /** The first turn of one that only stays on a worker: the engine is not told of it. */
        BIND,
        /** The last turn: the session ends on the worker once it is answered. */
        CLOSE
    }
}
