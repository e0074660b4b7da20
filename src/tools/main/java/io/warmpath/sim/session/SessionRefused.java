package io.warmpath.sim.session;

/** A request that its session does not take; the message is the engine's. */
public final class SessionRefused extends Exception {
    SessionRefused(String message) {
        super(message);
    }

    public String text() {
        return String.valueOf(getMessage());
    }
}
