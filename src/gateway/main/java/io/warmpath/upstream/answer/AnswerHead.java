package io.warmpath.upstream.answer;

import io.vertx.core.MultiMap;

/**
 * Status line and headers of one answer. Shared by the answers of a connection whose heads have the
 * same bytes: {@code headers} must stay unchanged.
 */
public record AnswerHead(
        int status,
        MultiMap headers,
        long length,
        boolean chunked,
        boolean keepAlive,
        long keepAliveSeconds) {

    /** What is wrong with a head, to follow "answered with". */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1;

        private final String what;

        Malformed(String what) {
            super(what, null, false, false);
            this.what = what;
        }

        String what() {
            return what;
        }
    }

    boolean isWithoutBody() {
        return status == 204 || status == 304;
    }
}
