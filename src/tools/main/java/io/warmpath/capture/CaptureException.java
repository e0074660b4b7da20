package io.warmpath.capture;

/** A capture file that cannot be used; the message names the file, the line and the reason. */
public final class CaptureException extends Exception {
    private static final long serialVersionUID = 1L;

    public CaptureException(String message) {
        super(message);
    }

    public CaptureException(String message, Throwable cause) {
        super(message, cause);
    }
}
