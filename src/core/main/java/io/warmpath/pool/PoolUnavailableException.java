package io.warmpath.pool;

import org.jspecify.annotations.Nullable;

/** The pool did not answer; the request is scored by the index alone. */
public final class PoolUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Why. */
    public enum Reason {
        /** No connection, or it broke. */
        UNREACHABLE,
        /** The answer did not come in the client's own time-out. */
        TIMEOUT,
        /** No master says that it leads and is ready. */
        NO_LEADER,
        /** Something answered, but not as a master does. */
        GARBLED,
        /** A master whose look-ups are not free of side effects. */
        VERSION,
        /** Too many questions are on the way already. */
        BUSY,
        /** It failed again and again and is left alone for a while. */
        BREAKER_OPEN,
        CLOSED
    }

    private final Reason reason;

    public PoolUnavailableException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public PoolUnavailableException(Reason reason, String message) {
        this(reason, message, null);
    }

    public Reason reason() {
        return reason;
    }
}
