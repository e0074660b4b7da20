package io.warmpath.gateway.flow;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.warmpath.access.Visit;
import io.warmpath.admission.ModelQueue;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.gateway.agent.NextTurn;
import io.warmpath.gateway.agent.SessionTurn;
import io.warmpath.gateway.answer.Explanation;
import io.warmpath.gateway.answer.TimedAnswer;
import io.warmpath.gateway.observe.DecisionCause;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.ModelMeters;
import io.warmpath.gateway.observe.Occasion;
import io.warmpath.gateway.observe.TraceIds;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.plan.Waited;
import io.warmpath.gateway.prompt.AskedPrompt;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.upstream.UpstreamListener;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * One request: what was asked, for whom, and what has been learnt of it on its way. Everything that
 * works for the request reads it; {@link Exchange} alone decides. On the request's event loop.
 */
final class RequestScope {
    final FlowParts parts;
    final Context context;
    final EngineForm form;
    final TimedAnswer answer;
    final AskedPrompt prompt;
    final RetryState retryState;
    final Tracing.@Nullable Trace trace;
    final double draw; // see Fleet.open
    private final long started;
    private final @Nullable Visit visit;
    private long tokensUsed; // by its attempts, as far as they were counted
    private InferenceRequest request;
    private @Nullable ModelMeters model;
    private @Nullable SessionTurn session;
    private long queued; // nanoseconds, over all entries
    private ModelQueue.@Nullable Account account;
    private int decisions;

    /** {@code started}: by the flow's clock. {@code visit}: null: anybody may do everything. */
    RequestScope(
            FlowParts parts,
            Context context,
            InferenceRequest request,
            EngineForm form,
            TimedAnswer answer,
            long started,
            @Nullable Visit visit) {
        this.parts = parts;
        this.context = context;
        this.request = request;
        this.form = form;
        this.answer = answer;
        this.started = started;
        this.visit = visit;
        this.draw = parts.planning().fleet().draw();
        this.prompt = new AskedPrompt(parts.planning().tokens());
        this.retryState = new RetryState(parts.retries().maxWorkers());
        this.trace = parts.metrics().tracing().begin(request, visit, started);
    }

    /** As it was asked; without what is not needed any more once it is answered. */
    InferenceRequest request() {
        return request;
    }

    /** Why no worker can be asked; null: the model is served, and the client may use it. */
    @Nullable GatewayError whyUnserved() {
        String asked = request.name().asked();
        if (visit != null && !visit.allows(asked)) {
            return new GatewayError.UnknownModel(asked);
        }
        FleetSnapshot fleet = parts.planning().fleet().snapshot();
        return fleet.knows(request.model())
                ? null
                : parts.planning().models().unserved(fleet, asked, parts.options().retryAfter());
    }

    /**
     * Its model is served: it becomes a turn of its session.
     *
     * @throws io.warmpath.fault.GatewayException when what it says of its session is wrong
     */
    void served() {
        model = parts.metrics().of(request.model());
        session = parts.sessions().of(context, request, form);
    }

    /** Null when it is no session's. */
    @Nullable SessionTurn session() {
        return session;
    }

    /** Its session's turn is there. */
    void sentTo(Candidate to) {
        if (session != null) {
            session.sent(to);
        }
    }

    /** One more decision on it, which is about to be made. */
    Occasion occasion(DecisionCause cause) {
        decisions++;
        return new Occasion(
                visit == null ? "" : visit.tenant(),
                traceId(),
                decisions,
                cause == DecisionCause.FIRST && decisions > 1 ? DecisionCause.RETRY : cause);
    }

    /** Of the trace that it is part of, the client's or one of ours; empty: none. */
    private String traceId() {
        String own = trace == null ? "" : trace.id();
        return own.isEmpty() ? TraceIds.of(request.headers()) : own;
    }

    void waited(Waited waited) {
        account = waited.account();
        long nanos = waited.nanos();
        queued += nanos;
        if (trace != null && nanos > 0) {
            long now = now();
            trace.step("queue", now - nanos, now);
        }
    }

    /** An attempt has ended with so many tokens of answer; -1: not known. */
    void made(long outputTokens) {
        if (account != null) {
            account.answered(outputTokens);
        }
    }

    /** Nanoseconds in queues. */
    long queued() {
        return queued;
    }

    long now() {
        return parts.nanoTime().getAsLong();
    }

    long started() {
        return started;
    }

    long nanosSinceStart() {
        return now() - started;
    }

    /** Of its model, which the fleet knows. */
    ModelMeters meters() {
        ModelMeters known = model;
        return known == null ? parts.metrics().of(request.model()) : known;
    }

    GatewayError noWorker() {
        return WorkerChoice.whyNone(this);
    }

    /** Its load is booked where the decision says. */
    void booked(Planner.Decided decided) {
        parts.planning().planner().booked(request, decided.decision(), prompt.tokens());
    }

    /**
     * @param promptTokens -1 when they are not known
     * @param enginePriority as the engine was told; empty: nothing
     * @return null: it is not explained why this worker was chosen
     */
    @Nullable MultiMap explanation(
            Planner.Decided decided, int promptTokens, OptionalInt enginePriority) {
        boolean explain =
                switch (parts.options().explain()) {
                    case OFF -> false;
                    case ON_REQUEST -> request.form().explain();
                    case ALWAYS -> true;
                };
        if (!explain) {
            return null;
        }
        SessionTurn turn = session;
        MultiMap own = Explanation.headers(decided.decision(), promptTokens, request.prompt());
        if (decided.prefill() != null) {
            Explanation.addPrefill(
                    own, decided.prefill().decision(), promptTokens, request.prompt());
        }
        Explanation.addHints(
                own,
                request,
                enginePriority,
                turn == null ? OptionalInt.empty() : turn.timeoutSeconds());
        Explanation.addSession(own, turn == null ? null : turn.word());
        return own;
    }

    /** What listens to the engine, and warms it for the next turn when the client wants that. */
    UpstreamListener beside(Candidate to, UpstreamListener client) {
        return form.isAsSent() && request.hints().speculativePrefill()
                ? NextTurn.beside(
                        parts.sending().nextTurns(),
                        context,
                        request,
                        to,
                        prompt.length(to.worker()),
                        prompt.blocks(to.worker()),
                        client)
                : client;
    }

    /**
     * This request's tokens have been counted; -1 where they have not. A prompt that nobody has
     * counted, as that of a client that left, is charged by its bytes.
     */
    void used(long promptTokens, long outputTokens) {
        if (promptTokens >= 0 || outputTokens >= 0) {
            long guessed = visit == null ? 0 : visit.guessed();
            long prompt = promptTokens >= 0 ? promptTokens : guessed;
            charge(prompt + Math.max(0, outputTokens));
        }
    }

    /** As many were made where the stream went on; what came before has been counted there. */
    void usedMore(long outputTokens) {
        charge(tokensUsed + Math.max(0, outputTokens));
    }

    private void charge(long tokens) {
        tokensUsed = tokens;
        if (visit != null) {
            visit.used(tokens);
        }
    }

    /**
     * The answer has begun to reach the client: drops what no further attempt needs.
     *
     * @param mayMove it may have to be asked again
     */
    void answered(boolean mayMove) {
        BodyMemory.answered(context);
        if (mayMove) {
            request = request.begun();
        } else {
            request = request.answered();
            prompt.forget();
        }
        form.answered();
    }

    /** It will be answered with this. */
    void refused(GatewayError error) {
        if (trace != null) {
            trace.refused(error);
        }
    }

    /** The books of this request are closed. */
    void ended(Outcome outcome) {
        parts.metrics().ended(outcome);
        if (trace != null) {
            trace.ended(outcome, traceId(), now());
        }
        if (model != null) {
            model.ended(nanosSinceStart());
        }
    }
}
