package io.warmpath.cli;

/** Why a command cannot do what it was asked for, in a sentence that says what to do about it. */
final class Trouble extends Exception {
    private static final long serialVersionUID = 1L;

    /** The gateway answers, and says no: there is no such worker, request or model. */
    static final int REFUSED = 1;

    /** Wrong use, or no gateway that lets us ask. */
    static final int FAILED = 2;

    private final int exitCode;

    Trouble(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    static Trouble usage(String message) {
        return new Trouble(FAILED, message);
    }

    int exitCode() {
        return exitCode;
    }
}
