package io.warmpath.fault;

/**
 * The kinds of {@link GatewayError} as clients see them. An error whose status, type or code
 * depends on more than its kind says so itself; here stands what it is then most of the time.
 */
public enum ErrorKind {
    BAD_REQUEST(400, Type.INVALID_REQUEST, "invalid_request"),
    NOT_HTTP(400, Type.INVALID_REQUEST, "malformed_request"),
    BODY_TOO_LARGE(413, Type.INVALID_REQUEST, "request_too_large"),
    BODY_TOO_SLOW(408, Type.INVALID_REQUEST, "request_body_timeout"),
    UNKNOWN_MODEL(404, Type.INVALID_REQUEST, "model_not_found"),
    SESSION_CONFLICT(409, Type.INVALID_REQUEST, "session_conflict"),
    SESSION_NOT_OPENED(502, Type.UPSTREAM, "session_open_failed"),
    METHOD_NOT_ALLOWED(405, Type.INVALID_REQUEST, "method_not_allowed"),
    NO_SUCH_ROUTE(404, Type.INVALID_REQUEST, "unknown_url"),
    NO_SUCH_WORKER(404, Type.INVALID_REQUEST, "worker_not_found"),
    NO_SUCH_RESERVATION(404, Type.INVALID_REQUEST, "reservation_not_found"),
    RESERVATION_EXISTS(409, Type.INVALID_REQUEST, "reservation_exists"),
    TOO_MANY_RESERVATIONS(429, Type.RATE_LIMIT, "too_many_reservations", true),
    EVENTS_OUT_OF_ORDER(409, Type.INVALID_REQUEST, "events_out_of_order"),
    FORBIDDEN(403, Type.PERMISSION, "forbidden"),
    UNAUTHORIZED(401, Type.INVALID_REQUEST, "invalid_api_key"),
    RATE_LIMITED(429, Type.RATE_LIMIT, "rate_limit_exceeded", true),
    OVER_SHARE(429, Type.RATE_LIMIT, "queue_share_exceeded", true),
    NO_HEALTHY_WORKER(503, Type.UNAVAILABLE, "no_healthy_worker", true),
    TAINTS_NOT_TOLERATED(503, Type.UNAVAILABLE, "taints_not_tolerated", true),
    OVERLOADED(503, Type.OVERLOADED, "overloaded", true),
    OUT_OF_FILES(503, Type.OVERLOADED, "out_of_files", true),
    TOO_MANY_STREAMS(503, Type.UNAVAILABLE, "too_many_streams"),
    STOPPING(503, Type.UNAVAILABLE, "stopping", true),
    WORKER_UNREACHABLE(502, Type.UPSTREAM, "worker_unreachable", true),
    UPSTREAM_BROKE(502, Type.UPSTREAM, "upstream_broke"),
    UPSTREAM_TIMEOUT(504, Type.UPSTREAM, "upstream_timeout"),
    WORKER_UNWELL(504, Type.UPSTREAM, "worker_unwell"),
    REQUEST_TIMEOUT(504, Type.SERVER, "request_timeout"),
    ENGINE_REFUSED(502, Type.UPSTREAM, "engine_error"),
    BAD_UPSTREAM_ANSWER(502, Type.UPSTREAM, "bad_upstream_answer"),
    INTERNAL(500, Type.SERVER, "internal_error");

    /** OpenAI's error types, and those that it has no word for. */
    private enum Type {
        INVALID_REQUEST("invalid_request_error"),
        PERMISSION("permission_error"),
        RATE_LIMIT("rate_limit_error"),
        OVERLOADED("overloaded_error"),
        UNAVAILABLE("service_unavailable_error"),
        UPSTREAM("upstream_error"),
        SERVER("server_error");

        private final String word;

        Type(String word) {
            this.word = word;
        }
    }

    private final int httpStatus;
    private final Type type;
    private final String code;
    private final boolean safeToRetry;

    ErrorKind(int httpStatus, Type type, String code) {
        this(httpStatus, type, code, false);
    }

    ErrorKind(int httpStatus, Type type, String code, boolean safeToRetry) {
        this.httpStatus = httpStatus;
        this.type = type;
        this.code = code;
        this.safeToRetry = safeToRetry;
    }

    /** 400 to 599. */
    public int httpStatus() {
        return httpStatus;
    }

    /** OpenAI's {@code error.type}. */
    public String type() {
        return type.word;
    }

    /** OpenAI's {@code error.code}, machine readable, snake case. */
    public String code() {
        return code;
    }

    /** No engine can have started the request. */
    public boolean safeToRetry() {
        return safeToRetry;
    }
}
