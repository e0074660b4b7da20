package io.warmpath.fault;

import java.time.Duration;
import java.util.List;

/**
 * What can go wrong between a client and an engine. Each kind knows the HTTP status the client
 * sees, the OpenAI error type and code, whether nothing has been done yet that a second try could
 * repeat, and a message that names the thing and the next step. Messages never contain an engine's
 * address. Immutable, safe to share.
 */
public sealed interface GatewayError {
    /** What all errors of this kind have in common. */
    default ErrorKind kind() {
        return switch (this) {
            case BadRequest _ -> ErrorKind.BAD_REQUEST;
            case NotHttp _ -> ErrorKind.NOT_HTTP;
            case BodyTooLarge _ -> ErrorKind.BODY_TOO_LARGE;
            case BodyTooSlow _ -> ErrorKind.BODY_TOO_SLOW;
            case UnknownModel _ -> ErrorKind.UNKNOWN_MODEL;
            case SessionConflict _ -> ErrorKind.SESSION_CONFLICT;
            case SessionNotOpened _ -> ErrorKind.SESSION_NOT_OPENED;
            case MethodNotAllowed _ -> ErrorKind.METHOD_NOT_ALLOWED;
            case NoSuchRoute _ -> ErrorKind.NO_SUCH_ROUTE;
            case NoSuchWorker _ -> ErrorKind.NO_SUCH_WORKER;
            case NoSuchReservation _ -> ErrorKind.NO_SUCH_RESERVATION;
            case ReservationExists _ -> ErrorKind.RESERVATION_EXISTS;
            case TooManyReservations _ -> ErrorKind.TOO_MANY_RESERVATIONS;
            case EventsOutOfOrder _ -> ErrorKind.EVENTS_OUT_OF_ORDER;
            case Forbidden _ -> ErrorKind.FORBIDDEN;
            case Unauthorized _ -> ErrorKind.UNAUTHORIZED;
            case RateLimited _ -> ErrorKind.RATE_LIMITED;
            case OverShare _ -> ErrorKind.OVER_SHARE;
            case NoHealthyWorker _ -> ErrorKind.NO_HEALTHY_WORKER;
            case TaintsNotTolerated _ -> ErrorKind.TAINTS_NOT_TOLERATED;
            case Overloaded _ -> ErrorKind.OVERLOADED;
            case OutOfFiles _ -> ErrorKind.OUT_OF_FILES;
            case TooManyStreams _ -> ErrorKind.TOO_MANY_STREAMS;
            case Stopping _ -> ErrorKind.STOPPING;
            case WorkerUnreachable _ -> ErrorKind.WORKER_UNREACHABLE;
            case UpstreamBroke _ -> ErrorKind.UPSTREAM_BROKE;
            case UpstreamTimeout _ -> ErrorKind.UPSTREAM_TIMEOUT;
            case WorkerUnwell _ -> ErrorKind.WORKER_UNWELL;
            case RequestTimeout _ -> ErrorKind.REQUEST_TIMEOUT;
            case EngineRefused _ -> ErrorKind.ENGINE_REFUSED;
            case BadUpstreamAnswer _ -> ErrorKind.BAD_UPSTREAM_ANSWER;
            case Internal _ -> ErrorKind.INTERNAL;
        };
    }

    /** Status the client sees, 400..599. */
    default int httpStatus() {
        return kind().httpStatus();
    }

    /** OpenAI's {@code error.type}, such as {@code invalid_request_error}. */
    default String type() {
        return kind().type();
    }

    /** OpenAI's {@code error.code}, machine readable, snake case. */
    default String code() {
        return kind().code();
    }

    /** For people: names the thing and the next step; no internal address. */
    String message();

    /** True when no engine can have started the request, so another worker may be tried. */
    default boolean safeToRetry() {
        return kind().safeToRetry();
    }

    /** Value of {@code Retry-After}, zero when the header is left out. */
    default Duration retryAfter() {
        return Duration.ZERO;
    }

    /** The request itself is wrong: unreadable JSON, a missing or mistyped field. */
    record BadRequest(String param, String message) implements GatewayError {}

    /**
     * The bytes are not HTTP, or can be read as a request in more than one way.
     *
     * @param httpStatus 400, 414, 431 or 505
     */
    record NotHttp(int httpStatus, String message) implements GatewayError {}

    /** The body is larger than the limit. */
    record BodyTooLarge(long limitBytes) implements GatewayError {
        @Override
        public String message() {
            return "The request body is larger than the limit of "
                    + limitBytes
                    + " bytes; send a shorter prompt or raise warmpath.http.max-body-size.";
        }
    }

    /** The body came too slowly: fewer than 500 bytes a second for a while. */
    record BodyTooSlow(Duration span) implements GatewayError {
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
        public String message() {
            return ("The worker `%s` has not opened the session: %s; open it again, or send"
                            + " the request without `session_control`.")
                    .formatted(worker, reason);
        }
    }

    /** The path exists, but not with this method. */
    record MethodNotAllowed(String method, String path, String allowed) implements GatewayError {
        @Override
        public String message() {
            return "Not allowed: " + method + " " + path + "; use " + allowed + ".";
        }
    }

    /** No such path. */
    record NoSuchRoute(String method, String path) implements GatewayError {
        @Override
        public String message() {
            return "Unknown request URL: " + method + " " + path + ".";
        }
    }

    /**
     * No worker has this name or id.
     *
     * @param known names of those there are; the first of them are shown
     */
    record NoSuchWorker(String worker, List<String> known) implements GatewayError {
        private static final int SHOWN = 20;

        @Override
        public String message() {
            int more = known.size() - SHOWN;
            return "There is no such worker: "
                    + worker
                    + (known.isEmpty() ? "; there are none" : "; there are ")
                    + String.join(", ", known.subList(0, Math.min(SHOWN, known.size())))
                    + (more > 0 ? " and " + more + " more" : "")
                    + ".";
        }
    }

    /** No reservation has this id, or not any more. */
    record NoSuchReservation(String id) implements GatewayError {
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
        public String message() {
            return "The reservation `" + id + "` exists already; release it or choose another id.";
        }
    }

    /** As many reservations are open as there may be. */
    record TooManyReservations(int limit) implements GatewayError {
        @Override
        public String message() {
            return "All " + limit + " reservations are taken; release those that have ended.";
        }
    }

    /**
     * Posted events are not the ones that must come now.
     *
     * @param epoch and {@code sequence} of the batch to go on with
     */
    record EventsOutOfOrder(String message, long epoch, long sequence) implements GatewayError {}

    /** The caller may not use an admin endpoint. */
    record Forbidden(String message) implements GatewayError {}

    /** The client has not shown who it is; the message does not repeat what it has shown. */
    record Unauthorized(String message) implements GatewayError {}

    /**
     * The client has used up what it may use in a minute.
     *
     * @param what {@code requests} or {@code tokens}
     */
    record RateLimited(String what, long limit, Duration retryAfter) implements GatewayError {
        @Override
        public String type() {
            return what;
        }

        @Override
        public String message() {
            return ("Rate limit reached: %s %s per minute for this API key; try again in %s"
                            + " s.")
                    .formatted(limit, what, Math.ceilDiv(retryAfter.toMillis(), 1000L));
        }
    }

    /** So many of the client's requests wait for this model that others would find no room. */
    record OverShare(String model, Duration retryAfter) implements GatewayError {
        @Override
        public String message() {
            return ("As many of your requests wait for a worker of `%s` as your share of the"
                            + " queue allows; try again in %s s.")
                    .formatted(model, Math.ceilDiv(retryAfter.toMillis(), 1000L));
        }
    }

    /**
     * No healthy worker serves the model now, but one may soon: it is known, or a worker has not
     * said yet what it serves.
     *
     * @param model empty when it is not known which
     * @param why besides; empty for none
     */
    record NoHealthyWorker(String model, Duration retryAfter, String why) implements GatewayError {
        public NoHealthyWorker(String model, Duration retryAfter) {
            this(model, retryAfter, "");
        }

        @Override
        public String message() {
            String who =
                    model.isEmpty()
                            ? "No worker can take the request"
                            : "No healthy worker serves the model `" + model + "`";
            return "%s right now%s; try again later."
                    .formatted(who, why.isEmpty() ? "" : ", and " + why);
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
        public String message() {
            return "No ready worker takes this request ("
                    + String.join(", ", reasons)
                    + "); tolerate a taint in `nvext.tolerations`, or try again later.";
        }
    }

    /** All workers that could take the request are busy, or its queue is full. */
    record Overloaded(int httpStatus, String why, Duration retryAfter) implements GatewayError {
        @Override
        public String message() {
            return why + "; try again later.";
        }
    }

    /**
     * The gateway has as many files and sockets open as the system lets it, so it could not connect
     * to an engine; no engine is to blame. Any request that ends makes room.
     */
    record OutOfFiles() implements GatewayError {
        @Override
        public String message() {
            return "The gateway has as many connections open as it may; try again later.";
        }

        @Override
        public Duration retryAfter() {
            return Duration.ofSeconds(1);
        }
    }

    /** So many readers follow the decisions already. {@code most}: readers. */
    record TooManyStreams(int most) implements GatewayError {
        @Override
        public String message() {
            return most
                    + " streams of /router/decisions/stream are open, which is the most; close"
                    + " one of them.";
        }
    }

    /** The gateway was told to stop, and takes nothing new. */
    record Stopping() implements GatewayError {
        @Override
        public String message() {
            return "This gateway is stopping and takes no new requests; send it again.";
        }

        @Override
        public Duration retryAfter() {
            return Duration.ofSeconds(1);
        }
    }

    /** The engine could not be reached, so it has not seen the request. */
    record WorkerUnreachable(String worker) implements GatewayError {
        @Override
        public String message() {
            return "Worker `" + worker + "` could not be reached; try again.";
        }
    }

    /**
     * The connection to the engine broke.
     *
     * @param bytesReceived of the answer's body
     */
    record UpstreamBroke(String worker, long bytesReceived) implements GatewayError {
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
     * The engine kept silent for longer than a time-out.
     *
     * @param phase connect, first byte or idle
     */
    record UpstreamTimeout(String worker, String phase, Duration after) implements GatewayError {
        @Override
        public String message() {
            return "Worker `%s` timed out (%s) after %s ms."
                    .formatted(worker, phase, after.toMillis());
        }

        @Override
        public boolean safeToRetry() {
            return phase.equals("connect");
        }
    }

    /** It fails its health checks, or has left the fleet, and has said nothing since. */
    record WorkerUnwell(String worker) implements GatewayError {
        @Override
        public String message() {
            return "Worker `"
                    + worker
                    + "` fails its health checks and has gone silent; send the request again.";
        }
    }

    /** A request took longer than any may, wherever it was. */
    record RequestTimeout(Duration limit) implements GatewayError {
        @Override
        public String message() {
            return "The request took longer than the limit of "
                    + limit.toMillis()
                    + " ms (warmpath.http.request-timeout) and was ended.";
        }
    }

    /**
     * An engine's own error, in an event because the stream had begun.
     *
     * @param httpStatus the engine's
     * @param message what it said
     */
    record EngineRefused(int httpStatus, String message) implements GatewayError {
        @Override
        public String type() {
            return httpStatus < 500 ? "invalid_request_error" : "upstream_error";
        }
    }

    /** The engine's answer is not HTTP that can be passed on. */
    record BadUpstreamAnswer(String worker, String detail) implements GatewayError {
        @Override
        public String message() {
            return "Worker `%s` sent an answer that cannot be passed on: %s."
                    .formatted(worker, detail);
        }
    }

    /** A bug here; the log has the cause under the request id. */
    record Internal(String requestId) implements GatewayError {
        @Override
        public String message() {
            return "Internal error; the gateway's log has the cause under request id "
                    + requestId
                    + ".";
        }
    }
}
