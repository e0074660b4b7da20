package io.warmpath.gateway.flow;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineTokenizer;
import io.warmpath.gateway.answer.Continued;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.observe.ModelMeters;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.selfcheck.LengthCheck;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.session.WarmLedger;
import io.warmpath.tokens.PromptInput;
import io.warmpath.upstream.answer.AnswerScanner;
import org.jspecify.annotations.Nullable;

/**
 * What was thought of one attempt when it was sent, held against what its engine says at the end:
 * cached tokens, the prompt's length, what must be stored now. On the request's event loop.
 */
final class AnswerReport {
    /** So many whole blocks beyond what was cached are computed for certain, and stored. */
    private static final int CERTAIN_BLOCKS = 2;

    private final Exchange exchange;
    private final RoutingDecision decision;
    private final int promptTokens;
    private final @Nullable Continued stream;
    private final boolean beginningOnly; // what is cached beyond it was not predicted
    private final @Nullable LengthCheck check;
    private final @Nullable Runnable pooled;
    private final WarmLedger.@Nullable Warmed warmed;

    private AnswerReport(
            Exchange exchange,
            RoutingDecision decision,
            int promptTokens,
            @Nullable Continued stream,
            boolean beginningOnly,
            @Nullable LengthCheck check,
            @Nullable Runnable pooled,
            WarmLedger.@Nullable Warmed warmed) {
        this.exchange = exchange;
        this.decision = decision;
        this.promptTokens = promptTokens;
        this.stream = stream;
        this.beginningOnly = beginningOnly;
        this.check = check;
        this.pooled = pooled;
        this.warmed = warmed;
    }

    /**
     * For an attempt that is about to be sent.
     *
     * @param promptTokens -1 when they are not known
     * @param stream that it goes on with; null: it begins the answer
     * @param model by the engine's name
     */
    static AnswerReport of(
            Exchange exchange,
            RoutingDecision decision,
            int promptTokens,
            @Nullable Continued stream,
            String model) {
        InferenceRequest request = exchange.request;
        boolean beginningOnly =
                !request.passThrough()
                        && request.prompt() instanceof PromptInput.Conversation chat
                        && chat.extent().isBeginning();
        Candidate to = decision.chosen().candidate();
        RequestFlow flow = exchange.flow;
        if (stream != null) {
            return new AnswerReport(
                    exchange, decision, promptTokens, stream, beginningOnly, null, null, null);
        }
        WarmLedger.Warmed warmed =
                flow.warmed.take(exchange.prompt.blocks(to.worker()).chain(), to.slot().index());
        SharedCache shared = flow.shared;
        Runnable pooled =
                shared == null || request.passThrough()
                        ? null
                        : shared.sent(
                                to.worker(),
                                exchange.prompt.knownIds(to.worker()),
                                request.space());
        LengthCheck check =
                beginningOnly || request.passThrough() ? null : check(exchange, to, model);
        return new AnswerReport(
                exchange, decision, promptTokens, null, beginningOnly, check, pooled, warmed);
    }

    private static @Nullable LengthCheck check(Exchange exchange, Candidate to, String model) {
        InferenceRequest request = exchange.request;
        return exchange.flow.selfCheck.sent(
                request.model(),
                to.worker(),
                request.prompt(),
                exchange.prompt.length(to.worker()),
                exchange.prompt.ids(to.worker(), request),
                () ->
                        new EngineTokenizer.Question(
                                model,
                                request.body().getBytes(),
                                request.headers().get("authorization")));
    }

    /** The prompt is known up to some place only, so that its length is not. */
    boolean knowsBeginningOnly() {
        return beginningOnly;
    }

    /**
     * The answer has ended.
     *
     * @param s has read it; null: nobody has
     * @param streamedNanos from its first token to its end; -1 where it was no stream
     */
    void compare(@Nullable AnswerScanner s, int status, long streamedNanos) {
        if (stream != null) {
            // What was predicted was the prompt's, without the answer's beginning.
            if (s != null && status < 400) {
                long cached = stream.anew() ? s.cachedTokens() : stream.cachedTokens();
                exchange.meters().reported(s.promptTokens(), cached, s.completionTokens());
            }
            return;
        }
        FlowMetrics metrics = exchange.flow.metrics;
        int predicted = decision.chosen().cachedTokens();
        boolean whole = promptTokens >= 0 && !beginningOnly && !exchange.request.several();
        if (whole && !exchange.request.passThrough()) {
            metrics.predicted(promptTokens, predicted); // beside what is reported, else misleading
        }
        if (s != null && s.cachedTokens() >= 0) {
            metrics.reported(s.cachedTokens());
            if (warmed != null) {
                metrics.prefilledHit(warmed.hit(s.cachedTokens()));
            }
            if (whole) {
                metrics.compared(
                        decision.chosen().candidate().worker().name(), predicted, s.cachedTokens());
            }
        }
        if (s != null && s.promptTokens() >= 0 && check != null) {
            check.answered(s.promptTokens());
        }
        if (s != null && status < 400 && !exchange.request.passThrough()) {
            ModelMeters meters = exchange.meters();
            meters.reported(s.promptTokens(), s.cachedTokens(), s.completionTokens());
            if (streamedNanos >= 0) {
                meters.streamed(
                        streamedNanos,
                        s.completionTokens() >= 0 ? s.completionTokens() : s.events());
            }
        }
    }

    /**
     * The rank has computed whole blocks: its events should say so.
     *
     * @param since when it was sent, by the flow's clock
     */
    void computed(@Nullable AnswerScanner s, int status, long since) {
        Candidate to = decision.chosen().candidate();
        int blockSize = to.worker().blockSize();
        if (status >= 400 || promptTokens < 0 || blockSize <= 0) {
            return;
        }
        long reported = s == null ? -1 : s.cachedTokens();
        long cached = Math.max(decision.chosen().cachedTokens(), reported);
        if (pooled != null) {
            pooled.run();
        }
        if (promptTokens - cached >= (long) CERTAIN_BLOCKS * blockSize) {
            exchange.flow.planner.computed(to, since);
        }
    }
}
