package io.warmpath.config.source;

/** The command line cannot be followed; the message is one or more sentences for the user. */
public final class UsageException extends Exception {
    private static final long serialVersionUID = 1L;

    public UsageException(String message) {
        super(message);
    }
}
