package io.warmpath.sim.demo;

/** The demo cannot go on; the message is for the user. */
final class DemoFailure extends Exception {
    DemoFailure(String message) {
        super(message);
    }

    DemoFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
