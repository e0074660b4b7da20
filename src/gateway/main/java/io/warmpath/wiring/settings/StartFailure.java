package io.warmpath.wiring.settings;

/** The gateway cannot start; the message says what an operator has to change. No stack trace. */
public final class StartFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StartFailure(String message) {
        super(message, null, false, false);
    }
}
