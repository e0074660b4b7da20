package io.warmpath.events;

/** A payload that is not an event batch; nothing of it can be used. No stack trace: not a bug. */
public final class MalformedBatchException extends Exception {
    private static final long serialVersionUID = 1L;

    public MalformedBatchException(String message) {
        super(message, null, false, false);
    }
}
