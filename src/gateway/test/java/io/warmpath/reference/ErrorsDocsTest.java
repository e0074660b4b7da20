package io.warmpath.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.api.messages.MessagesErrors;
import io.warmpath.fault.ErrorKind;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayError.SessionConflict;
import io.warmpath.repository.RecordedText;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** {@code src/docs/reference/errors.md} has every error that clients can meet. */
class ErrorsDocsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration SOON = Duration.ofSeconds(1);

    /** One of each kind, with each code that it can have. */
    private static final List<GatewayError> SAMPLES =
            List.of(
                    new GatewayError.BadRequest("temperature", "`temperature` must be a number."),
                    new GatewayError.NotHttp(400, "The request is not valid HTTP."),
                    new GatewayError.BodyTooLarge(64 << 20),
                    new GatewayError.BodyTooSlow(Duration.ofSeconds(20)),
                    new GatewayError.UnknownModel("gpt"),
                    new SessionConflict("run-17", SessionConflict.Why.NOT_OPEN),
                    new SessionConflict("run-17", SessionConflict.Why.NO_HISTORY),
                    new SessionConflict("run-17", SessionConflict.Why.ANSWERING),
                    new GatewayError.SessionNotOpened("w1", "status 500"),
                    new GatewayError.MethodNotAllowed("GET", "/v1/completions", "POST"),
                    new GatewayError.NoSuchRoute("POST", "/v1/nothing"),
                    new GatewayError.NoSuchWorker("w9", List.of("w0", "w1")),
                    new GatewayError.NoSuchReservation("mine"),
                    new GatewayError.ReservationExists("mine"),
                    new GatewayError.TooManyReservations(65_536),
                    new GatewayError.EventsOutOfOrder("Batch 7 of epoch 1 must come next.", 1, 7),
                    new GatewayError.Forbidden("The admin token is wrong."),
                    new GatewayError.Unauthorized("You did not provide an API key."),
                    new GatewayError.RateLimited("tokens", 100_000, Duration.ofSeconds(12)),
                    new GatewayError.OverShare("m", SOON),
                    new GatewayError.NoHealthyWorker("m", SOON),
                    new GatewayError.TaintsNotTolerated(
                            List.of("taint a=b:NoSchedule is not tolerated")),
                    new GatewayError.Overloaded(529, "All workers of `m` are busy", SOON),
                    new GatewayError.OutOfFiles(),
                    new GatewayError.TooManyStreams(16),
                    new GatewayError.Stopping(),
                    new GatewayError.WorkerUnreachable("w1"),
                    new GatewayError.UpstreamBroke("w1", 4096),
                    new GatewayError.UpstreamTimeout("w1", "first byte", Duration.ofMinutes(10)),
                    new GatewayError.WorkerUnwell("w1"),
                    new GatewayError.RequestTimeout(Duration.ofHours(6)),
                    new GatewayError.EngineRefused(400, "The engine's own words."),
                    new GatewayError.BadUpstreamAnswer("w1", "a broken chunk"),
                    new GatewayError.Internal("req-1"));

    @Test
    void the_page_is_current() throws IOException {
        RecordedText.same(Path.of("src/docs/reference/errors.md"), markdown());
    }

    @Test
    void there_is_a_sample_of_every_error_and_of_every_kind() {
        assertEquals(
                Set.of(GatewayError.class.getPermittedSubclasses()),
                SAMPLES.stream().map(Object::getClass).collect(Collectors.toSet()));
        assertEquals(
                EnumSet.allOf(ErrorKind.class),
                SAMPLES.stream().map(GatewayError::kind).collect(Collectors.toSet()));
    }

    @Test
    void codes_are_different() {
        assertEquals(SAMPLES.size(), SAMPLES.stream().map(GatewayError::code).distinct().count());
    }

    private static String markdown() throws IOException {
        StringBuilder out = new StringBuilder();
        out.append(
                """
                # Error codes

                Made from `GatewayError.java` by `ErrorsDocsTest`; do not edit.

                An error of OpenAI's API and of the gateway's own has this form. `code` is for programs; `message` names the thing and the next step; `param` is the
                path of the member of the body that is wrong, or null. Once a stream has begun, the error is its last event, and the status stays 200.

                ```json
                {"error":{"message":"`temperature` must be a number.","type":"invalid_request_error","param":"temperature","code":"invalid_request"}}
                ```

                Anthropic's API has `{"type":"error","error":{"type":"...","message":"..."},"request_id":"..."}` with a type of its own, below, and no code. Every answer has
                `x-request-id`, under which the log and `./warmpath why` know the request. `retry-after` comes in seconds, where waiting helps. An error that the engine answers
                before its stream begins reaches the client as the engine wrote it, with a `retry-after` where its [queue is full](../explanation/resilience.md#a-full-queue).

                "Send again" says whether the same request may be sent again without doing its work twice: "yes" where no engine can have started it.
                The gateway has then tried other workers itself ([resilience](../explanation/resilience.md)).

                | code | status | type | send again |
                |---|---|---|---|
                """);
        List<GatewayError> sorted =
                SAMPLES.stream()
                        .sorted(
                                Comparator.comparingInt(GatewayError::httpStatus)
                                        .thenComparing(GatewayError::code))
                        .toList();
        for (GatewayError error : sorted) {
            out.append(
                    "| [`%s`](#%s) | %s | `%s` | %s |\n"
                            .formatted(
                                    error.code(),
                                    error.code(),
                                    status(error),
                                    type(error),
                                    again(error)));
        }
        Map<String, RecordDocs.Doc> docs =
                RecordDocs.in(Path.of("src/core/main/java/io/warmpath/fault"));
        for (GatewayError error : sorted) {
            out.append(
                    "\n## %s\n\n**%s** `%s`, in Anthropic's API `%s`\n\n%s\n\n> %s\n\n%s\n"
                            .formatted(
                                    error.code(),
                                    status(error),
                                    type(error),
                                    anthropics(error),
                                    docs.get(error.getClass().getSimpleName()).about(),
                                    error.message(),
                                    next(error.kind())));
        }
        return out.toString();
    }

    private static String again(GatewayError error) {
        if (error.safeToRetry()) {
            return "yes";
        }
        return switch (error.kind()) {
            case BODY_TOO_SLOW, SESSION_NOT_OPENED, TOO_MANY_STREAMS -> "yes, later";
            case SESSION_CONFLICT ->
                    error.code().equals("session_busy") ? "yes, later" : "after a change";
            case ENGINE_REFUSED -> "as the engine says";
            default -> error.httpStatus() < 500 ? "after a change" : "it may do the work twice";
        };
    }

    private static String status(GatewayError error) {
        return switch (error.kind()) {
            case NOT_HTTP -> "400, 414, 431, 505";
            case OVERLOADED -> "529, or 503";
            case ENGINE_REFUSED -> "the engine's";
            default -> Integer.toString(error.httpStatus());
        };
    }

    private static String type(GatewayError error) {
        return switch (error.kind()) {
            case RATE_LIMITED -> "tokens` or `requests";
            case ENGINE_REFUSED -> "invalid_request_error` or `upstream_error";
            default -> error.type();
        };
    }

    private static String anthropics(GatewayError error) throws IOException {
        return JSON.readTree(MessagesErrors.body(error, "id")).at("/error/type").asText();
    }

    /** What the client, or an operator, does next. */
    private static String next(ErrorKind kind) {
        return switch (kind) {
            case BAD_REQUEST ->
                    "Correct the member that `param` names; [HTTP API](http-api.md) has the forms.";
            case NOT_HTTP ->
                    "Look at what stands between client and gateway: the connection is closed after"
                            + " it. 414 and 431: a shorter path, fewer or shorter headers.";
            case BODY_TOO_LARGE ->
                    "Send less, or raise"
                            + " [`warmpath.http.max-body-size`](configuration.md#warmpath.http.max-body-size).";
            case BODY_TOO_SLOW ->
                    "Send the request again over a better connection, or raise"
                            + " [`warmpath.http.clients.body-timeout`](configuration.md#warmpath.http.clients.body-timeout).";
            case UNKNOWN_MODEL ->
                    "Ask `GET /v1/models`, which lists what this key may use."
                            + " [Models](../how-to/models.md) says where names come from.";
            case SESSION_CONFLICT ->
                    "[Sessions that are opened and"
                            + " closed](../how-to/agents.md#sessions-that-are-opened-and-closed) has"
                            + " the rules.";
            case SESSION_NOT_OPENED ->
                    "Open the session again, or send the request without `session_control`;"
                            + " [sessions](../how-to/agents.md#sessions-that-are-opened-and-closed)"
                            + " says what an engine needs.";
            case METHOD_NOT_ALLOWED -> "Use a method of the header `allow`.";
            case NO_SUCH_ROUTE ->
                    "Look the path up in [HTTP API](http-api.md); a base URL with `/v1` twice is"
                            + " the usual cause.";
            case NO_SUCH_WORKER -> "Ask `GET /workers` for names and ids.";
            case NO_SUCH_RESERVATION ->
                    "Make a new one, or a longer `ttl_seconds`"
                            + " ([reservations](direct-api.md#reservations)).";
            case RESERVATION_EXISTS ->
                    "Choose another id, or release the open one"
                            + " ([reservations](direct-api.md#reservations)).";
            case TOO_MANY_RESERVATIONS ->
                    "Release reservations whose requests have ended; those that nobody releases end"
                            + " after their `ttl_seconds`.";
            case EVENTS_OUT_OF_ORDER ->
                    "Go on with `epoch` and `next_sequence` of the answer ([posted"
                            + " events](http-api.md#post-events)).";
            case FORBIDDEN ->
                    "Show the operators' token, or ask from the gateway's own machine; for clients:"
                            + " a key that may do this; for a page or a name of another site:"
                            + " `--cors-origins` ([security](../how-to/security.md)).";
            case UNAUTHORIZED ->
                    "Send a valid key as `Authorization: Bearer KEY` or `x-api-key: KEY`"
                            + " ([keys](../how-to/security.md#keys-of-clients)).";
            case RATE_LIMITED ->
                    "Wait for `retry-after`; `x-ratelimit-*` of every answer say what is left. The"
                            + " limits are in the key's record ([tenants and"
                            + " limits](../how-to/tenants-and-limits.md)).";
            case OVER_SHARE ->
                    "Send fewer requests at once, and wait for `retry-after`"
                            + " ([shares](../how-to/admission.md#tenants-take-turns)).";
            case NO_HEALTHY_WORKER ->
                    "Wait for `retry-after`. An operator asks `./warmpath status` ([what a state"
                            + " means](../how-to/operations.md#workers-what-a-state-means-and-what-to-do)).";
            case TAINTS_NOT_TOLERATED ->
                    "Tolerate a taint, or require fewer"
                            + " ([taints](../explanation/routing.md#taints)).";
            case OVERLOADED ->
                    "Wait for `retry-after`, and send fewer requests at once"
                            + " ([admission](../how-to/admission.md))."
                            + " [`warmpath.http.overload-status`](configuration.md#warmpath.http.overload-status)"
                            + " says which status it has.";
            case OUT_OF_FILES ->
                    "Wait for `retry-after`. An operator raises the limit of open files (`ulimit"
                            + " -n`).";
            case TOO_MANY_STREAMS -> "Close a console or a `./warmpath top` that nobody reads.";
            case STOPPING ->
                    "Send it again: another gateway takes it, or this one when it has started"
                            + " again.";
            case WORKER_UNREACHABLE ->
                    "Send it again. An operator looks whether the engine runs ([when engines"
                            + " fail](../how-to/operations.md#when-engines-fail)).";
            case UPSTREAM_BROKE ->
                    "Send it again; nothing went on by itself because the stream could not"
                            + " [move](../explanation/resilience.md), or its last try failed.";
            case UPSTREAM_TIMEOUT ->
                    "Send it again, or raise the time-out that the message names: `connect`, `first"
                            + " byte` and `idle` are keys of [upstream](configuration.md#upstream).";
            case WORKER_UNWELL ->
                    "Send it again ([when engines"
                            + " fail](../how-to/operations.md#when-engines-fail)).";
            case REQUEST_TIMEOUT ->
                    "Ask for fewer tokens, or raise"
                            + " [`warmpath.http.request-timeout`](configuration.md#warmpath.http.request-timeout).";
            case ENGINE_REFUSED ->
                    "Read the engine's message: below 500 the request is wrong, from 500 on the"
                            + " engine failed.";
            case BAD_UPSTREAM_ANSWER ->
                    "Look at the engine's log, and at what stands between gateway and engine: the"
                            + " answer is not HTTP, or not what was asked for.";
            case INTERNAL ->
                    "Report it with the lines that the log has under this request id"
                            + " ([support](../../../.github/SUPPORT.md)).";
        };
    }
}
