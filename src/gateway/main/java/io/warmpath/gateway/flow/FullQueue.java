package io.warmpath.gateway.flow;

import com.fasterxml.jackson.databind.JsonNode;
import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells an engine with a full queue from a broken one, by what it answers. The first has not begun
 * with the request and is well: it is asked again after {@link #pause}. Stateless.
 *
 * <table>
 * <caption>Which answer is which</caption>
 * <tr><td>529</td><td>full</td></tr>
 * <tr><td>429</td><td>full, unless it is about the client's key: quota headers or codes</td></tr>
 * <tr><td>503 with Retry-After or x-envoy-overloaded</td><td>full</td></tr>
 * <tr><td>503 whose message is one of those below</td><td>full</td></tr>
 * <tr><td>any other 503: no body, HTML, a scaling, loading, dead engine</td><td>broken</td></tr>
 * </table>
 */
final class FullQueue {
    private static final Duration PAUSE = Duration.ofSeconds(1);

    /** A mistaken header must not idle an engine for hours. */
    private static final Duration MOST = Duration.ofMinutes(1);

    /** In the messages of 503s, lower case. */
    private static final List<String> MESSAGES =
            List.of(
                    "queue is full", // SGLang, --max-queued-requests
                    "aborted by a higher priority request", // SGLang, and it had not begun
                    "request waiting timeout reached", // SGLang, SGLANG_REQ_WAITING_TIMEOUT
                    "currently busy and cannot accept new requests", // vLLM, max-num-queued-reqs
                    "prefill token backlog limit", // vLLM, max-num-queued-tokens
                    "maximum queue size", // Triton
                    "workers are busy", // Dynamo
                    "overloaded");

    private static final Set<String> OVERLOAD_TYPES = Set.of("overloaded_error", "overloaded");

    /** Codes and types of 429s about one client, which any engine's proxy would say again. */
    private static final Set<String> CLIENTS =
            Set.of("insufficient_quota", "rate_limit_exceeded", "requests", "tokens");

    private FullQueue() {}

    /** Whether it is one may only be seen by the body. */
    static boolean maySay(int status) {
        return status == 429 || status == 503 || status == 529;
    }

    /**
     * @param body a missing node where it is no JSON
     */
    static boolean says(int status, MultiMap headers, JsonNode body) {
        JsonNode error = error(body);
        return switch (status) {
            case 529 -> true;
            case 429 -> !isOfOneClient(headers, error);
            case 503 ->
                    headers.contains("retry-after")
                            || headers.contains("x-envoy-overloaded")
                            || isOverload(error);
            default -> false;
        };
    }

    /** As {@link #says}, of an event in a stream. */
    static boolean says(MultiMap headers, JsonNode event) {
        JsonNode error = error(event);
        if (error.equals(event)) {
            return false; // a piece of an answer
        }
        JsonNode code = error.path(error.has("status_code") ? "status_code" : "code");
        return code.asInt() == 429 ? !isOfOneClient(headers, error) : isOverload(error);
    }

    /** How long it gets nothing: what it has asked for, or a second. */
    static Duration pause(MultiMap headers) {
        String told = headers.get("retry-after");
        Duration pause = told == null ? PAUSE : told(told.strip(), headers.get("date"));
        return pause.compareTo(PAUSE) < 0 ? PAUSE : pause.compareTo(MOST) > 0 ? MOST : pause;
    }

    /** What the client is told where the engine's own words are not an answer to it. */
    static GatewayError error(String worker, Duration pause) {
        return new GatewayError.Overloaded(
                503, "The queue of worker " + worker + " is full", pause);
    }

    /** Seconds, or a date, which is held against the engine's own clock. */
    private static Duration told(String after, @Nullable String now) {
        if (!after.isEmpty() && after.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return after.length() > 9 ? MOST : Duration.ofSeconds(Long.parseLong(after));
        }
        try {
            return now == null ? PAUSE : Duration.between(date(now), date(after));
        } catch (DateTimeParseException e) {
            return PAUSE;
        }
    }

    private static ZonedDateTime date(String text) {
        return ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME);
    }

    /** The object that has the message; the node itself where nothing in it is an error. */
    private static JsonNode error(JsonNode body) {
        JsonNode finish = body.path("meta_info").path("finish_reason");
        if (finish.path("type").asText().equals("abort")) {
            return finish; // SGLang's own API
        }
        JsonNode error = body.path("response").path("error"); // of the responses API
        if (!error.isObject()) {
            error = body.path("error");
        }
        return error.isObject() || error.isTextual() ? error : body;
    }

    private static boolean isOverload(JsonNode error) {
        String message =
                (error.isTextual()
                                ? error
                                : error.path(error.has("message") ? "message" : "detail"))
                        .asText()
                        .toLowerCase(Locale.ROOT);
        return OVERLOAD_TYPES.contains(error.path("type").asText())
                || MESSAGES.stream().anyMatch(message::contains);
    }

    private static boolean isOfOneClient(MultiMap headers, JsonNode error) {
        return CLIENTS.contains(error.path("code").asText())
                || CLIENTS.contains(error.path("type").asText())
                || headers.names().stream()
                        .anyMatch(n -> n.toLowerCase(Locale.ROOT).startsWith("x-ratelimit-"));
    }
}
