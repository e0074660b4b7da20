package io.warmpath.fleet;

/** The URL, name or id of a new worker is taken; the message says which. */
public final class DuplicateWorkerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public DuplicateWorkerException(String message) {
        super(message);
    }
}
