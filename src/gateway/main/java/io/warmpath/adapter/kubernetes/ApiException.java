package io.warmpath.adapter.kubernetes;

import java.io.IOException;

/** The API server refused, or answered something else than expected. */
final class ApiException extends IOException {
    private static final long serialVersionUID = 1L;
    private static final int NOT_FOUND = 404;
    private static final int GONE = 410;

    private final int status;

    /** {@code status}: HTTP status, also of an error that came inside a watch. */
    ApiException(int status, String message) {
        super(message);
        this.status = status;
    }

    /** The server has no such kind of objects. */
    boolean notFound() {
        return status == NOT_FOUND;
    }

    /** What was asked for is older than what the server keeps: only a new list helps. */
    boolean gone() {
        return status == GONE;
    }
}
