package io.warmpath.wiring;

/** The gateway cannot start; the message says what an operator has to change. No stack trace. */
final class StartFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StartFailure(String message) {
        super(message, null, false, false);
    }
}
