package io.warmpath.fleet.probe;

/** A worker could not be asked; the message says what was tried and what came back. */
public final class ProbeException extends Exception {
    private static final long serialVersionUID = 1L;

    public ProbeException(String message) {
        super(message);
    }

    public ProbeException(String message, Throwable cause) {
        super(message, cause);
    }
}
