package io.warmpath.net.server;

/** Why bytes of a client are no request that one reader only could understand. Immutable. */
public final class MalformedRequest extends Exception {
    private final int status;

    private MalformedRequest(int status, String message) {
        super(message, null, false, false); // an answer, no trace
        this.status = status;
    }

    static MalformedRequest of(String message) {
        return new MalformedRequest(400, message);
    }

    static MalformedRequest tooLarge(String message) {
        return new MalformedRequest(431, message);
    }

    static MalformedRequest version() {
        return new MalformedRequest(505, "The version of HTTP must be 1.1 or 1.0.");
    }

    /** HTTP status of the answer: 400, 431 or 505. */
    public int status() {
        return status;
    }
}
