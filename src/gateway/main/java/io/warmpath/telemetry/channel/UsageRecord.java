package io.warmpath.telemetry.channel;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * What one request has used; what is not known is absent. Immutable.
 *
 * @param time of its end, ISO 8601 in UTC
 * @param requestId the client's {@code x-request-id}, or the gateway's
 * @param tenant of the client's key, or as the client names it
 * @param client name of the client's key
 * @param path of the request, without its query
 * @param model as workers list it
 * @param stream the client wanted an event stream
 * @param outcome as the tag {@code outcome} of {@code warmpath_requests_total}
 * @param status HTTP status of the engine's answer
 * @param tries workers that it was sent to, the same one again included
 * @param worker that answered, or was asked last
 * @param dpRank of the worker, from 0
 * @param cost of the worker in the decision, in the unit of {@code costKind}
 * @param costKind {@code blocks} (KV blocks, weighted) or {@code latency} (milliseconds)
 * @param promptTokens as the engine counted, else as the gateway did
 * @param cachedTokens of them, as the engine reports
 * @param outputTokens as the engine counted, else the events of the stream
 * @param estimated prompt or output tokens are not the engine's count
 * @param queueMs milliseconds of waiting for a worker with room
 * @param ttftMs milliseconds from the request's last byte to the first token
 * @param totalMs milliseconds from the request's last byte to the end of the answer
 */
@JsonNaming(SnakeCaseStrategy.class)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record UsageRecord(
        String time,
        String requestId,
        @Nullable String tenant,
        @Nullable String client,
        String path,
        String model,
        boolean stream,
        String outcome,
        @Nullable Integer status,
        int tries,
        @Nullable String worker,
        @Nullable Integer dpRank,
        @Nullable Double cost,
        @Nullable String costKind,
        @Nullable Long promptTokens,
        @Nullable Long cachedTokens,
        @Nullable Long outputTokens,
        boolean estimated,
        @Nullable Double queueMs,
        @Nullable Double ttftMs,
        double totalMs) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** As JSON, on one line. */
    public String text() {
        try {
            return JSON.writeValueAsString(this);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e); // a record of numbers and texts
        }
    }
}
