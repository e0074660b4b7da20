package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.api.json.DecisionJson;
import io.warmpath.gateway.observe.KeptDecision;
import io.warmpath.gateway.observe.KeptDecision.End;
import io.warmpath.gateway.observe.Occasion;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Score;
import java.util.List;
import java.util.Locale;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * One routing decision of the last ones, and how it ended; what is not known is absent.
 *
 * @param session as the client names it
 * @param attempt which decision on the request this is, from 1
 * @param promptTokens as counted here
 * @param predictedCachedTokens as the engine was predicted to report
 * @param notExact why it may report another number, as metrics name it
 * @param candidates that the request could have gone to
 * @param detailed the terms of every candidate are known
 * @param ended the worker is done with the request, or left; never so for a reservation
 * @param problem why there is no whole answer
 * @param reportedCachedTokens as the engine reported
 * @param outputTokens as the engine counted, else the events of the stream
 * @param queueMs that the request had waited in queues here
 * @param ttftMs from sending it to this worker until its first token
 * @param totalMs from sending it to this worker until the end
 * @param decision an object, where it was asked for
 */
@JsonNaming(SnakeCaseStrategy.class)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record DecisionRow(
        long number,
        String time,
        String requestId,
        @Nullable String traceId,
        @Nullable String tenant,
        @Nullable String session,
        String model,
        String path,
        int attempt,
        String cause,
        String worker,
        int dpRank,
        @Nullable Integer promptTokens,
        @Nullable Integer predictedCachedTokens,
        @Nullable String notExact,
        @Nullable Double cost,
        String costModel,
        String reason,
        int candidates,
        boolean detailed,
        boolean ended,
        @Nullable Integer status,
        @Nullable String problem,
        @Nullable Long reportedCachedTokens,
        @Nullable Long outputTokens,
        double queueMs,
        @Nullable Double ttftMs,
        @Nullable Double totalMs,
        @Schema(ref = "Decision") @JsonRawValue @Nullable String decision) {
    private static final double NANOS_PER_MILLI = 1e6;

    /**
     * @param end of the decision as it is to be told; null: it has not ended
     * @param whole with the decision itself
     */
    static DecisionRow of(KeptDecision kept, @Nullable End end, boolean whole) {
        RoutingDecision made = kept.decision();
        RoutingRequest request = made.request();
        Score chosen = made.chosen();
        Occasion occasion = kept.occasion();
        NotExact why = made.notExact();
        boolean counted = request.promptTokens() > 0 && !made.guessed();
        return new DecisionRow(
                kept.number(),
                kept.at().toString(),
                kept.requestId(),
                known(occasion.traceId()),
                known(occasion.tenant()),
                known(kept.session()),
                kept.model(),
                kept.path(),
                occasion.attempt(),
                occasion.cause().name().toLowerCase(Locale.ROOT),
                chosen.candidate().worker().name(),
                chosen.candidate().dpRank(),
                counted ? request.promptTokens() : null,
                counted && (why == null || why.predicts()) ? chosen.cachedTokens() : null,
                why == null ? null : why.label(),
                Double.isFinite(chosen.cost()) ? chosen.cost() : null,
                made.options().shownCost().flag(),
                made.reason(),
                request.candidates().size(),
                made.compared().detailed(),
                end != null,
                end == null || end.ending().status() == 0 ? null : end.ending().status(),
                end == null ? null : known(end.problem()),
                end == null ? null : known(end.ending().cachedTokens()),
                end == null ? null : known(end.ending().outputTokens()),
                request.circumstances().queuedNanos() / NANOS_PER_MILLI,
                end == null ? null : millis(end.ending().firstTokenNanos()),
                end == null ? null : millis(end.ending().nanos()),
                whole ? DecisionJson.of(made, List.of()) : null);
    }

    private static @Nullable String known(String text) {
        return text.isEmpty() ? null : text;
    }

    private static @Nullable Long known(long value) {
        return value >= 0 ? value : null;
    }

    private static @Nullable Double millis(long nanos) {
        return nanos >= 0 ? nanos / NANOS_PER_MILLI : null;
    }
}
