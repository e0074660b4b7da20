package io.warmpath.fleet;

/** How a request went at a worker, as far as the worker is to blame or to praise. */
public enum RequestOutcome {
    /** Answered, be it with an error that is the client's. */
    OK,
    /** Answered 500, 502, 503 or 504 for another reason than a full queue, or not in HTTP. */
    FAILED,
    /** Could not be reached, or the connection broke. */
    LOST,
    /** Nothing came for so long that the request was given up. */
    STALLED
}
