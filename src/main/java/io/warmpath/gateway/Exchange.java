package io.warmpath.gateway;

import io.vertx.core.Context;
import io.warmpath.access.Visit;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.FlowMetrics.Outcome;
import io.warmpath.gateway.FlowMetrics.RetryCause;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.upstream.UpstreamListener;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way: tokens, admission, decision, attempts, one end.
 *
 * <p>It is sent to at most two workers: one that takes a worker down must not take down the fleet.
 * Workers that cannot even be reached do not count, they have not seen it.
 *
 * <p>All methods on the request's event loop. Ends exactly once, by {@link #finish}; what comes
 * later (tokens, a second cancel) is ignored.
 */
public final class Exchange {
    private static final Logger LOG = Logger.getLogger(Exchange.class);

    /** Workers that may have begun with the request. */
    private static final int MAX_WORKERS_SENT_TO = 2;

    /** Attempts of any kind, refused connections included. */
    private static final int MAX_ATTEMPTS = 8;

    /** All workers refused: an engine that is just being replaced listens again after a moment. */
    private static final long SECOND_ROUND_MILLIS = 150;

    final RequestFlow flow;
    final Answer answer;
    final EngineForm form;
    InferenceRequest request;
    private final Context context;
    private final long started;
    private final @Nullable Visit visit;
    private @Nullable EnginePrompts tokens;
    private final List<PromptBlocks> named = new ArrayList<>(1);
    private final Entrance.Next entered =
            new Entrance.Next() {
                @Override
                public void start(
                        List<Candidate> candidates,
                        @Nullable List<PrefixMatch> known,
                        long queuedNanos) {
                    entrance = null; // it holds the prompt
                    queued += queuedNanos;
                    if (trace != null && queuedNanos > 0) {
                        long now = flow.nanoTime.getAsLong();
                        trace.step("queue", now - queuedNanos, now);
                    }
                    attempt(
                            flow.planner.decide(
                                    request,
                                    candidates,
                                    tokens,
                                    named,
                                    known,
                                    queued,
                                    w -> session == null ? "busy" : session.whyNot(w),
                                    trace),
                            false);
                }

                @Override
                public void refused(Outcome outcome, GatewayError error) {
                    refuse(outcome, error);
                }

                @Override
                public void crashed(RuntimeException cause) {
                    Exchange.this.crashed(cause);
                }
            };
    private @Nullable ModelMeters model;
    private Tracing.@Nullable Trace trace;
    private @Nullable SessionTurn session;
    private @Nullable Attempt attempt;
    private @Nullable Entrance entrance;
    private int attempts;
    private long queued; // nanoseconds, over all entries
    private final List<Long> failedWorkers = new ArrayList<>(0);
    private final List<Long> sentTo = new ArrayList<>(0);
    private boolean secondRound;
    private boolean over;

    Exchange(
            RequestFlow flow,
            Context context,
            InferenceRequest request,
            Answer answer,
            EngineForm form,
            @Nullable Visit visit) {
        this.flow = flow;
        this.context = context;
        this.request = request;
        this.answer = answer;
        this.form = form;
        this.visit = visit;
        this.started = flow.nanoTime.getAsLong();
    }

    void begin() {
        flow.metrics.started();
        trace = flow.metrics.tracing().begin(request, started);
        try {
            FleetSnapshot fleet = flow.fleet.snapshot();
            boolean hidden = visit != null && !visit.allows(request.name().asked());
            if (hidden || !fleet.knows(request.model())) {
                refuse(Outcome.REJECTED, new GatewayError.UnknownModel(request.name().asked()));
                return;
            }
            model = flow.metrics.of(request.model());
            session = SessionTurn.of(flow, request);
            List<Candidate> candidates = candidates();
            if (candidates.isEmpty()) {
                refuse(Outcome.NO_WORKER, noWorker());
            } else {
                flow.tokenStep.run(
                        context,
                        request,
                        candidates,
                        trace == null ? this::decide : new TracedTokens(trace));
            }
        } catch (GatewayException e) {
            refuse(Outcome.REJECTED, e.error());
        } catch (RuntimeException e) {
            crashed(e);
        }
    }

    /** The client closed its connection: stop the engine now, not when its next token comes. */
    public void clientGone() {
        if (!over) {
            Attempt running = attempt;
            Entrance waiting = entrance;
            finish(Outcome.CANCELLED);
            if (waiting != null) {
                waiting.leave();
            }
            if (running != null) {
                running.abandon();
            }
        }
    }

    private void decide(@Nullable EnginePrompts promptTokens) {
        if (over) {
            return;
        }
        tokens = promptTokens;
        Entrance mine = new Entrance(flow, request, this::candidates, entered);
        entrance = mine;
        mine.enter(context, tokens, true);
    }

    private void attempt(Planner.Decided decided, boolean freshConnection) {
        attempts++;
        RoutingDecision decision = decided.decision();
        if (LOG.isDebugEnabled()) {
            LOG.debugf("%s attempt %d: %s", request.requestId(), attempts, decision);
        }
        Attempt next = new Attempt(this, decided, promptTokens(decision));
        attempt = next;
        flow.planner.booked(request, decision, tokens);
        if (session != null) {
            session.sent(decision.chosen().candidate());
        }
        if (attempts == 1 && !secondRound) {
            flow.metrics.leaves(nanosSinceStart() - queued);
        }
        try {
            next.start(freshConnection);
        } catch (GatewayException e) {
            refuse(Outcome.REJECTED, e.error()); // this worker cannot be asked so
        }
    }

    /**
     * Tries another worker, if there is one and the request has not been sent to two already.
     *
     * @return false when the caller has to answer with what it has
     */
    boolean retryElsewhere(Attempt failed, RetryCause cause) {
        long worker = failed.candidate().worker().id();
        failedWorkers.add(worker);
        if (cause != RetryCause.UNREACHABLE && !sentTo.contains(worker)) {
            sentTo.add(worker);
        }
        if (over
                || attempts >= MAX_ATTEMPTS
                || sentTo.size() >= MAX_WORKERS_SENT_TO
                || request.pinnedWorker().isPresent()) {
            return false;
        }
        List<Candidate> others =
                Planner.candidates(flow.fleet.snapshot(), request.model(), failedWorkers);
        if (others.isEmpty()) {
            return false;
        }
        if (session != null) {
            session.narrowed(others);
        }
        Planner.Decided second;
        try {
            second =
                    flow.planner.decide(
                            request,
                            others,
                            tokens,
                            named,
                            null,
                            queued,
                            w -> "failed this request",
                            trace);
        } catch (GatewayException e) {
            // The pinned rank exists on the failed worker only.
            LOG.debugf("%s no second attempt: %s", request.requestId(), e.getMessage());
            return false;
        }
        failed.detach();
        flow.metrics.retried(cause);
        // A new connection: when several engines restart together, the pooled ones to this worker
        // may be dead too.
        attempt(second, true);
        return true;
    }

    /** Tries the same worker again over a new connection. */
    boolean retryOnFreshConnection(Attempt failed) {
        if (over || attempts >= MAX_ATTEMPTS) {
            return false;
        }
        long worker = failed.candidate().worker().id();
        if (!sentTo.contains(worker)) {
            sentTo.add(worker);
        }
        failed.detach();
        flow.metrics.retried(RetryCause.STALE_CONNECTION);
        attempt(failed.decided(), true);
        return true;
    }

    /**
     * Waits a moment and asks all workers again, once, when none could be reached.
     *
     * @return false when that has been done already
     */
    boolean retryAllLater(Attempt failed) {
        if (over || secondRound || sentTo.size() >= MAX_WORKERS_SENT_TO) {
            return false;
        }
        secondRound = true;
        attempts = 0;
        failedWorkers.clear();
        failed.detach();
        attempt = null;
        context.owner().setTimer(SECOND_ROUND_MILLIS, t -> decide(tokens));
        return true;
    }

    private List<Candidate> candidates() {
        List<Candidate> all = Planner.candidates(flow.fleet.snapshot(), request.model(), List.of());
        SessionTurn turn = session;
        return turn == null ? all : turn.narrow(all);
    }

    /** What listens to the engine, and warms it for the next turn when the client wants that. */
    UpstreamListener nextTurn(Candidate to, UpstreamListener client) {
        return form == EngineForm.AS_SENT
                ? NextTurn.beside(
                        flow,
                        context,
                        request,
                        to,
                        lengthOn(to.worker()),
                        blocksOn(to.worker()),
                        client)
                : client;
    }

    /** An engine has counted this request's tokens; -1 where it has not. */
    void used(long promptTokens, long outputTokens) {
        if (visit != null && (promptTokens >= 0 || outputTokens >= 0)) {
            visit.used(Math.max(0, promptTokens) + Math.max(0, outputTokens));
        }
    }

    /** What became of its session; null when it has none. */
    @Nullable String sessionWord() {
        return session == null ? null : session.word();
    }

    /** The answer has begun to reach the client: nobody else will be asked. */
    void answered() {
        request = request.answered();
        tokens = null; // the names of its blocks stay with the decision
        form.answered();
    }

    /** What is told of an attempt; null when nobody wants to know. */
    Tracing.@Nullable Call traced(RoutingDecision decision, int promptTokens) {
        return trace == null ? null : trace.call(decision, promptTokens, flow.nanoTime.getAsLong());
    }

    /** Tells when the tokens were known, and when the pools had answered. */
    private final class TracedTokens implements TokenStep.Next {
        private final Tracing.Trace trace;
        private long since = started;
        private String step = "tokenise";

        TracedTokens(Tracing.Trace trace) {
            this.trace = trace;
        }

        @Override
        public void asksPools() {
            next("pool");
        }

        @Override
        public void tokens(@Nullable EnginePrompts tokens) {
            if (!over) {
                next("");
            }
            decide(tokens);
        }

        private void next(String following) {
            long now = flow.nanoTime.getAsLong();
            trace.step(step, since, now);
            since = now;
            step = following;
        }
    }

    /** Of its model, which the fleet knows. */
    ModelMeters meters() {
        ModelMeters known = model;
        return known == null ? flow.metrics.of(request.model()) : known;
    }

    /** On the chosen worker; -1 when they are not known. */
    private int promptTokens(RoutingDecision decision) {
        int length = lengthOn(decision.chosen().candidate().worker());
        return length == 0 ? -1 : length;
    }

    /** The prompt's length there, in tokens; 0 when it is not known, or no longer. */
    int lengthOn(Worker worker) {
        return tokens == null ? 0 : tokens.of(worker.kind()).length();
    }

    /** The prompt as that worker has it; null when it is not known, or no longer. */
    @Nullable PromptContent contentOn(Worker worker) {
        return tokens == null ? null : tokens.of(worker.kind());
    }

    /** The prompt's ids there; where there are hashes only they are made anew, which may block. */
    Supplier<int[]> idsOn(Worker worker) {
        int[] known = knownIdsOn(worker);
        InferenceRequest asked = request;
        return known.length > 0 ? () -> known : () -> flow.tokenStep.idsOn(worker.kind(), asked);
    }

    /** The prompt's ids there; empty where there are none, or hashes only. */
    int[] knownIdsOn(Worker worker) {
        return tokens == null ? PromptContent.NO_IDS : tokens.of(worker.kind()).ids();
    }

    /** The prompt's blocks as this worker cuts them; one when the prompt is not known. */
    PromptBlocks blocksOn(Worker worker) {
        return Planner.blocksOn(worker, tokens, named);
    }

    GatewayError noWorker() {
        return new GatewayError.NoHealthyWorker(request.model(), flow.options.retryAfter());
    }

    long nanosSinceStart() {
        return flow.nanoTime.getAsLong() - started;
    }

    /** Answers with an error and ends; nothing of an answer has been passed on. */
    void refuse(Outcome outcome, GatewayError error) {
        if (!over) {
            finish(outcome);
            answer.fail(error);
        }
    }

    /** Ends the books of this request. */
    void finish(Outcome outcome) {
        over = true;
        attempt = null;
        entrance = null;
        if (session != null) {
            session.ended();
        }
        flow.metrics.ended(outcome);
        if (trace != null) {
            trace.ended(outcome, flow.nanoTime.getAsLong());
        }
        if (model != null) {
            model.ended(nanosSinceStart());
        }
    }

    /** A bug: the client gets what can still be said, the log gets the cause. */
    void crashed(RuntimeException cause) {
        LOG.errorf(cause, "request %s failed by a bug in the gateway", request.requestId());
        Attempt running = attempt;
        if (running != null) {
            running.abandon();
        }
        if (over) {
            return;
        }
        finish(Outcome.INTERNAL);
        if (running != null && running.released()) {
            answer.reset();
        } else {
            answer.fail(new GatewayError.Internal(request.requestId()));
        }
    }
}
