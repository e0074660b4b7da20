package io.warmpath.api.error;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.fault.GatewayError;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Pins what a client sees of every kind of error. */
public class ErrorMapperTest {
    public record Pinned(GatewayError error, int status, String json) {
        @Override
        public String toString() {
            return error.getClass().getSimpleName();
        }
    }

    private static Pinned pin(
            GatewayError error,
            int status,
            String message,
            String type,
            String param,
            String code) {
        return new Pinned(
                error,
                status,
                "{\"error\":{\"message\":\""
                        + message
                        + "\",\"type\":\""
                        + type
                        + "\",\"param\":"
                        + param
                        + ",\"code\":\""
                        + code
                        + "\"}}");
    }

    public static Stream<Pinned> pinned() {
        String bad = "invalid_request_error";
        String upstream = "upstream_error";
        return Stream.of(
                pin(
                        new GatewayError.BadRequest("model", "`model` \"x\"\n"),
                        400,
                        "`model` \\\"x\\\"\\n",
                        bad,
                        "\"model\"",
                        "invalid_request"),
                pin(
                        new GatewayError.NotHttp(400, "The request is not valid HTTP."),
                        400,
                        "The request is not valid HTTP.",
                        bad,
                        "null",
                        "malformed_request"),
                pin(
                        new GatewayError.BodyTooLarge(64),
                        413,
                        "The request body is larger than the limit of 64 bytes; send a shorter"
                                + " prompt or raise warmpath.http.max-body-size.",
                        bad,
                        "null",
                        "request_too_large"),
                pin(
                        new GatewayError.BodyTooSlow(Duration.ofSeconds(20)),
                        408,
                        "The request body came too slowly: less than 500 bytes a second over 20000"
                                + " ms (warmpath.http.clients.body-timeout).",
                        bad,
                        "null",
                        "request_body_timeout"),
                pin(
                        new GatewayError.RequestTimeout(Duration.ofSeconds(60)),
                        504,
                        "The request took longer than the limit of 60000 ms"
                                + " (warmpath.http.request-timeout) and was ended.",
                        "server_error",
                        "null",
                        "request_timeout"),
                pin(
                        new GatewayError.EngineRefused(400, "too long"),
                        400,
                        "too long",
                        bad,
                        "null",
                        "engine_error"),
                pin(
                        new GatewayError.EngineRefused(503, "full"),
                        503,
                        "full",
                        upstream,
                        "null",
                        "engine_error"),
                pin(
                        new GatewayError.UnknownModel("x"),
                        404,
                        "The model `x` does not exist; GET /v1/models lists those served here.",
                        bad,
                        "null",
                        "model_not_found"),
                pin(
                        new GatewayError.EventsOutOfOrder("go on with batch 3", 1, 3),
                        409,
                        "go on with batch 3",
                        bad,
                        "null",
                        "events_out_of_order"),
                pin(
                        new GatewayError.NoSuchWorker("w9", List.of("w0", "w1")),
                        404,
                        "There is no such worker: w9; there are w0, w1.",
                        bad,
                        "null",
                        "worker_not_found"),
                pin(
                        new GatewayError.NoSuchReservation("r1"),
                        404,
                        "There is no reservation `r1`: it was released, has expired, or was never"
                                + " made.",
                        bad,
                        "null",
                        "reservation_not_found"),
                pin(
                        new GatewayError.ReservationExists("r1"),
                        409,
                        "The reservation `r1` exists already; release it or choose another id.",
                        bad,
                        "null",
                        "reservation_exists"),
                pin(
                        new GatewayError.TooManyReservations(3),
                        429,
                        "All 3 reservations are taken; release those that have ended.",
                        "rate_limit_error",
                        "null",
                        "too_many_reservations"),
                pin(
                        new GatewayError.NoSuchRoute("GET", "/x"),
                        404,
                        "Unknown request URL: GET /x.",
                        bad,
                        "null",
                        "unknown_url"),
                pin(
                        new GatewayError.MethodNotAllowed("GET", "/x", "POST"),
                        405,
                        "Not allowed: GET /x; use POST.",
                        bad,
                        "null",
                        "method_not_allowed"),
                pin(
                        new GatewayError.Forbidden("no"),
                        403,
                        "no",
                        "permission_error",
                        "null",
                        "forbidden"),
                pin(
                        new GatewayError.Unauthorized("who"),
                        401,
                        "who",
                        bad,
                        "null",
                        "invalid_api_key"),
                pin(
                        new GatewayError.RateLimited("tokens", 5, Duration.ofMillis(1500)),
                        429,
                        "Rate limit reached: 5 tokens per minute for this API key; try again in 2"
                                + " s.",
                        "tokens",
                        "null",
                        "rate_limit_exceeded"),
                pin(
                        new GatewayError.OverShare("m", Duration.ofMillis(2500)),
                        429,
                        "As many of your requests wait for a worker of `m` as your share of the"
                                + " queue allows; try again in 3 s.",
                        "rate_limit_error",
                        "null",
                        "queue_share_exceeded"),
                pin(
                        new GatewayError.Overloaded(529, "All busy", Duration.ofSeconds(1)),
                        529,
                        "All busy; try again later.",
                        "overloaded_error",
                        "null",
                        "overloaded"),
                pin(
                        new GatewayError.OutOfFiles(),
                        503,
                        "The gateway has as many connections open as it may; try again later.",
                        "overloaded_error",
                        "null",
                        "out_of_files"),
                pin(
                        new GatewayError.TooManyStreams(64),
                        503,
                        "64 streams of /router/decisions/stream are open, which is the most;"
                                + " close one of them.",
                        "service_unavailable_error",
                        "null",
                        "too_many_streams"),
                pin(
                        new GatewayError.Stopping(),
                        503,
                        "This gateway is stopping and takes no new requests; send it again.",
                        "service_unavailable_error",
                        "null",
                        "stopping"),
                pin(
                        new GatewayError.NoHealthyWorker("x", Duration.ofSeconds(1)),
                        503,
                        "No healthy worker serves the model `x` right now; try again later.",
                        "service_unavailable_error",
                        "null",
                        "no_healthy_worker"),
                pin(
                        new GatewayError.TaintsNotTolerated(
                                List.of("taint a=b:NoSchedule is not tolerated")),
                        503,
                        "No ready worker takes this request (taint a=b:NoSchedule is not"
                                + " tolerated); tolerate a taint in `nvext.tolerations`, or try"
                                + " again later.",
                        "service_unavailable_error",
                        "null",
                        "taints_not_tolerated"),
                pin(
                        new GatewayError.WorkerUnreachable("w"),
                        502,
                        "Worker `w` could not be reached; try again.",
                        upstream,
                        "null",
                        "worker_unreachable"),
                pin(
                        new GatewayError.UpstreamBroke("w", 3),
                        502,
                        "Worker `w` failed in the middle of the answer; send the request again.",
                        upstream,
                        "null",
                        "upstream_broke"),
                pin(
                        new GatewayError.UpstreamTimeout("w", "idle", Duration.ofSeconds(1)),
                        504,
                        "Worker `w` timed out (idle) after 1000 ms.",
                        upstream,
                        "null",
                        "upstream_timeout"),
                pin(
                        new GatewayError.WorkerUnwell("w"),
                        504,
                        "Worker `w` fails its health checks and has gone silent; send the request"
                                + " again.",
                        upstream,
                        "null",
                        "worker_unwell"),
                pin(
                        new GatewayError.BadUpstreamAnswer("w", "no HTTP"),
                        502,
                        "Worker `w` sent an answer that cannot be passed on: no HTTP.",
                        upstream,
                        "null",
                        "bad_upstream_answer"),
                pin(
                        new GatewayError.SessionConflict(
                                "s1", GatewayError.SessionConflict.Why.NOT_OPEN),
                        409,
                        "The session `s1` is not open here, and this turn brings only what is new;"
                                + " open the session again (`action`: `open`) with all messages so"
                                + " far.",
                        bad,
                        "null",
                        "session_not_open"),
                pin(
                        new GatewayError.SessionNotOpened("w0", "status 400"),
                        502,
                        "The worker `w0` has not opened the session: status 400; open it again, or"
                                + " send the request without `session_control`.",
                        upstream,
                        "null",
                        "session_open_failed"),
                pin(
                        new GatewayError.Internal("r1"),
                        500,
                        "Internal error; the gateway's log has the cause under request id r1.",
                        "server_error",
                        "null",
                        "internal_error"));
    }

    @ParameterizedTest
    @MethodSource("pinned")
    void an_error_keeps_its_status_and_json(Pinned p) {
        assertEquals(p.status(), p.error().httpStatus());
        assertEquals(p.json(), ErrorMapper.body(p.error()).toString());
        assertEquals("data: " + p.json() + "\n\n", new String(ErrorMapper.event(p.error()), UTF_8));
    }

    @Test
    void every_kind_of_error_is_pinned() {
        Set<Class<?>> pinned = pinned().map(p -> p.error().getClass()).collect(Collectors.toSet());
        assertEquals(Set.of(GatewayError.class.getPermittedSubclasses()), pinned);
    }

    @Test
    void codes_are_distinct() {
        Map<String, Long> codes =
                pinned().collect(
                                Collectors.groupingBy(
                                        p -> p.error().code(),
                                        TreeMap::new,
                                        Collectors.counting()));
        assertEquals(
                GatewayError.class.getPermittedSubclasses().length,
                codes.size(),
                () -> Arrays.toString(codes.entrySet().toArray()));
    }
}
