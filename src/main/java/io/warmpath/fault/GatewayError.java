package io.warmpath.fault;

import java.time.Duration;
import java.util.List;

/**
 * What can go wrong between a client and an engine.
 *
 * <p>Each kind knows the HTTP status the client sees, the OpenAI error type and code, whether
 * nothing has been done yet that a second try could repeat, and a message that names the thing and
 * the next step. Messages never contain an engine's address. Immutable, safe to share.
 */
public sealed interface GatewayError {
    /** Status the client sees, 400..599. */
    int httpStatus();

    /** OpenAI's {@code error.type}, such as {@code invalid_request_error}. */
    String type();

    /** OpenAI's {@code error.code}, machine readable, snake case. */
    String code();

    /** For people: names the thing and the next step; no internal address. */
    String message();

    /** True when no engine can have started the request, so another worker may be tried. */
    default boolean safeToRetry() {
        return false;
    }

    /** Value of {@code Retry-After}, zero when the header is left out. */
    default Duration retryAfter() {
        return Duration.ZERO;
    }

    /** The request itself is wrong: unreadable JSON, a missing or mistyped field. */
    record BadRequest(String param, String message) implements GatewayError {
        @Override
        public int httpStatus() {
            return 400;
        }

        @Override
        public String type() {
            return "invalid_request_error";
        }

        @Override
        public String code() {
            return "invalid_request";
        }
    }

    /** The body is larger than {@code limitBytes}. */
    record BodyTooLarge(long limitBytes) implements GatewayError {
        @Override
        public int httpStatus() {
            return 413;
        }

        @Override
        public String type() {
            return "invalid_request_error";
        }

        @Override
        public String code() {
            return "request_too_large";
        }

        @Override
        public String message() {
            return "The request body is larger than the limit of "
                    + limitBytes
                    + " bytes; send a shorter prompt or raise warmpath.http.max-body-size.";
        }
    }

    /** The body came too slowly: fewer than 500 bytes a second over {@code span}. */
    record BodyTooSlow(Duration span) implements GatewayError {
        @Override
        public int httpStatus() {
            return 408;
        }

        @Override
        public String type() {
            return "invalid_request_error";
        }

        @Override
        public String code() {
            return "request_body_timeout";
        }

        @Override
        public String message() {
            return "The request body came too slowly: less than 500 bytes a second over "
                    + span.toMillis()
                    + " ms (warmpath.http.clients.body-timeout).";
        }
    }

    /** No worker serves this model. */
    record UnknownModel(String model) implements GatewayError {
        @Override
        public int httpStatus() {
            return 404;
        }

        @Override
        public String type() {
            return "invalid_request_error";
        }

        @Override
        public String code() {
            return "model_not_found";
        }

        @Override
        public String message() {
            return "The model `"
                    + model
                    + "` does not exist; GET /v1/models lists those served here.";
        }
    }

    /** What a session would have to know to go on is not known here. */
    record SessionConflict(String session, Why why) implements GatewayError {
        /** What is missing. */
        public enum Why {
            /** Closed, expired, or opened at another gateway or never. */
            NOT_OPEN("session_not_open", "is not open here"),
            /** Longer than what is kept, or of an API whose history is not kept. */
            NO_HISTORY("session_history_unknown", "has a history that is not kept here"),
            /** The history has no end yet. */
            ANSWERING("session_busy", "is still answering its last turn");

            private final String code;
            private final String is;

            Why(String code, String is) {
                this.code = code;
                this.is = is;
            }
        }

        @Override
        public int httpStatus() {
            return 409;
        }

        @Override
        public String type() {
            return "invalid_request_error";
        }

        @Override
        public String code() {
            return why.code;
        }

        @Override
        public String message() {
            return "The session `"
                    + session
                    + "` "
                    + why.is
                    + ", and this turn brings only what is new; "
                    + (why == Why.ANSWERING
                            ? "send it when the answer has ended."
                            : "open the session again (`action`: `open`) with all messages so"
                                    + " far.");
        }
    }

    /** The engine would not open a session; nothing was generated. */
    record SessionNotOpened(String worker, String reason) implements GatewayError {
        @Override
        public int httpStatus() {
            return 502;
        }

        @Override
        public String type() {
            return "upstream_error";
        }

        @Override
        public String code() {
            return "session_open_failed";
        }

        @Override
        public String message() {
            return "The worker `"
                    + worker
                    + "` has not opened the session: "
                    + reason
                    + "; open it again, or send the request without `session_control`.";
        }
    }

    /** The path exists, but not with this method. */
    record MethodNotAllowed(String method, String path, String allowed) implements GatewayError {
        @Override
        public int httpStatus() {
            return 405;
        }

        @Override
        public String type() {
            return "invalid_request_error";
        }

        @Override
        public String code() {
            return "method_not_allowed";
        }

        @Override
        public String message() {
            return "Not allowed: " + method + " " + path + "; use " + allowed + ".";
        }
    }

    /** No such path. */
    record NoSuchRoute(String method, String path) implements GatewayError {
        @Override
        public int httpStatus() {
            return 404;
        }

        @Override
        public String type() {
            return "invalid_request_error";
        }

        @Override
        public String code() {
            return "unknown_url";
        }

        @Override
        public String message() {
            return "Unknown request URL: " + method + " " + path + ".";
        }
    }

    /** No reservation has this id, or not any more. */
    record NoSuchReservation(String id) implements GatewayError {
        @Override
        public int httpStatus() {
            return 404;
        }

        @Override
        public String type() {
            return "invalid_request_error";
        }

        @Override
        public String code() {
            return "reservation_not_found";
        }

        @Override
        public String message() {
            return "There is no reservation `"
                    + id
                    + "`: it was released, has expired, or was never made.";
        }
    }

    /** A reservation with this id is open. */
    record ReservationExists(String id) implements GatewayError {
        @Override
        public int httpStatus() {
            return 409;
        }

        @Override
        public String type() {
            return "invalid_request_error";
        }

        @Override
        public String code() {
            return "reservation_exists";
        }

        @Override
        public String message() {
            return "The reservation `" + id + "` exists already; release it or choose another id.";
        }
    }

    /** As many reservations are open as there may be. */
    record TooManyReservations(int limit) implements GatewayError {
        @Override
        public int httpStatus() {
            return 429;
        }

        @Override
        public String type() {
            return "rate_limit_error";
        }

        @Override
        public String code() {
            return "too_many_reservations";
        }

        @Override
        public String message() {
            return "All " + limit + " reservations are taken; release those that have ended.";
        }

        @Override
        public boolean safeToRetry() {
            return true;
        }
    }

    /**
     * Posted events are not the ones that must come now.
     *
     * @param epoch and {@code sequence} of the batch to go on with
     */
    record EventsOutOfOrder(String message, long epoch, long sequence) implements GatewayError {
        @Override
        public int httpStatus() {
            return 409;
        }

        @Override
        public String type() {
            return "invalid_request_error";
        }

        @Override
        public String code() {
            return "events_out_of_order";
        }
    }

    /** The caller may not use an admin endpoint. */
    record Forbidden(String message) implements GatewayError {
        @Override
        public int httpStatus() {
            return 403;
        }

        @Override
        public String type() {
            return "permission_error";
        }

        @Override
        public String code() {
            return "forbidden";
        }
    }

    /** The client has not shown who it is; the message does not repeat what it has shown. */
    record Unauthorized(String message) implements GatewayError {
        @Override
        public int httpStatus() {
            return 401;
        }

        @Override
        public String type() {
            return "invalid_request_error";
        }

        @Override
        public String code() {
            return "invalid_api_key";
        }
    }

    /**
     * The client has used up what it may use in a minute.
     *
     * @param what {@code requests} or {@code tokens}
     */
    record RateLimited(String what, long limit, Duration retryAfter) implements GatewayError {
        @Override
        public int httpStatus() {
            return 429;
        }

        @Override
        public String type() {
            return what;
        }

        @Override
        public String code() {
            return "rate_limit_exceeded";
        }

        @Override
        public String message() {
            return "Rate limit reached: "
                    + limit
                    + " "
                    + what
                    + " per minute for this API key; try again in "
                    + Math.ceilDiv(retryAfter.toMillis(), 1000L)
                    + " s.";
        }

        @Override
        public boolean safeToRetry() {
            return true;
        }
    }

    /**
     * No healthy worker serves the model now, but one may soon: it is known, or a worker has not
     * said yet what it serves.
     *
     * @param why besides; empty for none
     */
    record NoHealthyWorker(String model, Duration retryAfter, String why) implements GatewayError {
        public NoHealthyWorker(String model, Duration retryAfter) {
            this(model, retryAfter, "");
        }

        @Override
        public int httpStatus() {
            return 503;
        }

        @Override
        public String type() {
            return "service_unavailable_error";
        }

        @Override
        public String code() {
            return "no_healthy_worker";
        }

        @Override
        public String message() {
            return "No healthy worker serves the model `"
                    + model
                    + "` right now"
                    + (why.isEmpty() ? "" : ", and " + why)
                    + "; try again later.";
        }

        @Override
        public boolean safeToRetry() {
            return true;
        }
    }

    /**
     * Workers are there, but their taints keep the request away; others may come back.
     *
     * @param reasons short phrases, such as {@code taint a=b:NoSchedule is not tolerated}
     */
    record TaintsNotTolerated(List<String> reasons) implements GatewayError {
        public TaintsNotTolerated {
            reasons = List.copyOf(reasons);
        }

        @Override
        public int httpStatus() {
            return 503;
        }

        @Override
        public String type() {
            return "service_unavailable_error";
        }

        @Override
        public String code() {
            return "taints_not_tolerated";
        }

        @Override
        public String message() {
            return "No ready worker takes this request ("
                    + String.join(", ", reasons)
                    + "); tolerate a taint in `nvext.tolerations`, or try again later.";
        }

        @Override
        public boolean safeToRetry() {
            return true;
        }
    }

    /** All workers that could take the request are busy, or its queue is full. */
    record Overloaded(int httpStatus, String why, Duration retryAfter) implements GatewayError {
        @Override
        public String type() {
            return "overloaded_error";
        }

        @Override
        public String code() {
            return "overloaded";
        }

        @Override
        public String message() {
            return why + "; try again later.";
        }

        @Override
        public boolean safeToRetry() {
            return true;
        }
    }

    /** The engine could not be reached, so it has not seen the request. */
    record WorkerUnreachable(String worker) implements GatewayError {
        @Override
        public int httpStatus() {
            return 502;
        }

        @Override
        public String type() {
            return "upstream_error";
        }

        @Override
        public String code() {
            return "worker_unreachable";
        }

        @Override
        public String message() {
            return "Worker `" + worker + "` could not be reached; try again.";
        }

        @Override
        public boolean safeToRetry() {
            return true;
        }
    }

    /**
     * The connection to the engine broke; {@code bytesReceived} counts bytes of the answer's body.
     */
    record UpstreamBroke(String worker, long bytesReceived) implements GatewayError {
        @Override
        public int httpStatus() {
            return 502;
        }

        @Override
        public String type() {
            return "upstream_error";
        }

        @Override
        public String code() {
            return "upstream_broke";
        }

        @Override
        public String message() {
            return bytesReceived == 0
                    ? "Worker `" + worker + "` closed the connection before it answered; try again."
                    : "Worker `"
                            + worker
                            + "` failed in the middle of the answer; send the request again.";
        }

        @Override
        public boolean safeToRetry() {
            return bytesReceived == 0;
        }
    }

    /**
     * The engine kept silent for longer than a time-out; {@code phase} is connect, first byte or
     * idle.
     */
    record UpstreamTimeout(String worker, String phase, Duration after) implements GatewayError {
        @Override
        public int httpStatus() {
            return 504;
        }

        @Override
        public String type() {
            return "upstream_error";
        }

        @Override
        public String code() {
            return "upstream_timeout";
        }

        @Override
        public String message() {
            return "Worker `"
                    + worker
                    + "` timed out ("
                    + phase
                    + ") after "
                    + after.toMillis()
                    + " ms.";
        }

        @Override
        public boolean safeToRetry() {
            return phase.equals("connect");
        }
    }

    /** It fails its health checks and has said nothing since. */
    record WorkerUnwell(String worker) implements GatewayError {
        @Override
        public int httpStatus() {
            return 504;
        }

        @Override
        public String type() {
            return "upstream_error";
        }

        @Override
        public String code() {
            return "worker_unwell";
        }

        @Override
        public String message() {
            return "Worker `"
                    + worker
                    + "` fails its health checks and has gone silent; send the request again.";
        }

        @Override
        public boolean safeToRetry() {
            return false;
        }
    }

    /** A request took longer than any may, wherever it was. */
    record RequestTimeout(Duration limit) implements GatewayError {
        @Override
        public int httpStatus() {
            return 504;
        }

        @Override
        public String type() {
            return "server_error";
        }

        @Override
        public String code() {
            return "request_timeout";
        }

        @Override
        public String message() {
            return "The request took longer than the limit of "
                    + limit.toMillis()
                    + " ms (warmpath.http.request-timeout) and was ended.";
        }
    }

    /**
     * An engine's own error, told in an event because the stream had begun; {@code httpStatus} is
     * the engine's, {@code message} what it said.
     */
    record EngineRefused(int httpStatus, String message) implements GatewayError {
        @Override
        public String type() {
            return httpStatus < 500 ? "invalid_request_error" : "upstream_error";
        }

        @Override
        public String code() {
            return "engine_error";
        }
    }

    /** The engine's answer is not HTTP that can be passed on. */
    record BadUpstreamAnswer(String worker, String detail) implements GatewayError {
        @Override
        public int httpStatus() {
            return 502;
        }

        @Override
        public String type() {
            return "upstream_error";
        }

        @Override
        public String code() {
            return "bad_upstream_answer";
        }

        @Override
        public String message() {
            return "Worker `"
                    + worker
                    + "` sent an answer that cannot be passed on: "
                    + detail
                    + ".";
        }
    }

    /** A bug here; the log has the cause under the request id. */
    record Internal(String requestId) implements GatewayError {
        @Override
        public int httpStatus() {
            return 500;
        }

        @Override
        public String type() {
            return "server_error";
        }

        @Override
        public String code() {
            return "internal_error";
        }

        @Override
        public String message() {
            return "Internal error; the gateway's log has the cause under request id "
                    + requestId
                    + ".";
        }
    }
}
