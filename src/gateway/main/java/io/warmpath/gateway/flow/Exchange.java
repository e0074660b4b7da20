package io.warmpath.gateway.flow;

import io.vertx.core.Context;
import io.warmpath.access.Visit;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.answer.Continued;
import io.warmpath.gateway.migration.WhyNot;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.FlowMetrics.RetryCause;
import io.warmpath.gateway.observe.ModelMeters;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.plan.AskedPrompt;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.prompt.EnginePrompts;
import io.warmpath.gateway.prompt.TokenStep;
import io.warmpath.gateway.request.BodyChanges;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.upstream.UpstreamListener;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Predicate;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way: tokens, admission, decision, attempts, one end.
 *
 * <p>It is sent to a few workers at most ({@link Retries}): one that takes a worker down must not
 * take down the fleet. Workers that cannot even be reached do not count, they have not seen it.
 *
 * <p>Where its first token is late another worker may be asked beside the first (a hedge): whoever
 * answers first goes on, the other one is stopped.
 *
 * <p>All methods on the request's event loop. Ends exactly once, by {@link #finish}; what comes
 * later (tokens, a second cancel) is ignored.
 */
public final class Exchange {
    private static final Logger LOG = Logger.getLogger(Exchange.class);

    /** All workers refused: an engine that is just being replaced listens again after a moment. */
    private static final long SECOND_ROUND_MILLIS = 150;

    final RequestFlow flow;
    final TimedAnswer answer;
    final EngineForm form;
    final AskedPrompt prompt;
    final Tries tries;
    InferenceRequest request;
    private final Context context;
    private final long started;
    private final @Nullable Visit visit;
    private final double draw;
    private final Hedging hedging;
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
                                    prompt.tokens(),
                                    prompt.named(),
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
    private @Nullable Relocation relocation;
    private @Nullable Attempt attempt;
    private @Nullable Entrance entrance;
    private long queued; // nanoseconds, over all entries
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
        this.form = form;
        this.visit = visit;
        this.prompt = new AskedPrompt(flow.tokenStep);
        this.tries = new Tries(flow.retries.maxWorkers());
        this.hedging = new Hedging(this, context);
        this.started = flow.nanoTime.getAsLong();
        this.answer = new TimedAnswer(answer, this, request, context, flow.times, started);
        this.draw = flow.fleet.draw();
    }

    void begin() {
        flow.metrics.started();
        flow.retries.request();
        trace = flow.metrics.tracing().begin(request, started);
        try {
            FleetSnapshot fleet = flow.fleet.snapshot();
            boolean hidden = visit != null && !visit.allows(request.name().asked());
            String asked = request.name().asked();
            if (hidden || !fleet.knows(request.model())) {
                GatewayError why =
                        hidden
                                ? new GatewayError.UnknownModel(asked)
                                : flow.models().unserved(fleet, asked, flow.options.retryAfter());
                refuse(why.httpStatus() == 503 ? Outcome.NO_WORKER : Outcome.REJECTED, why);
                return;
            }
            model = flow.metrics.of(request.model());
            session = SessionTurn.of(flow, context, request, form);
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
            stop(Outcome.CANCELLED);
        }
    }

    /** It has taken longer than any request may. */
    void overtime(Duration limit) {
        if (!over) {
            stop(Outcome.TIMED_OUT);
            answer.cutOff(new GatewayError.RequestTimeout(limit));
        }
    }

    private void stop(Outcome outcome) {
        Attempt running = attempt;
        Attempt beside = hedging.end();
        Entrance waiting = entrance;
        finish(outcome);
        if (beside != null) {
            beside.abandon();
        }
        if (waiting != null) {
            waiting.leave();
        }
        if (running != null) {
            running.abandon();
        }
    }

    private void decide(@Nullable EnginePrompts promptTokens) {
        if (over) {
            return;
        }
        prompt.known(promptTokens);
        Entrance mine = new Entrance(flow, request, this::candidates, entered);
        entrance = mine;
        mine.enter(context, promptTokens, true);
    }

    private void attempt(Planner.Decided decided, boolean freshConnection) {
        attempt(decided, freshConnection, null);
    }

    /** Goes on with the stream there. */
    void goOn(Planner.Decided decided, Continued stream) {
        attempt(decided, true, stream);
        Attempt next = attempt;
        if (next != null && !request.hints().extras().isEmpty()) {
            answer.facts(next::facts);
        }
    }

    private void attempt(
            Planner.Decided decided, boolean freshConnection, @Nullable Continued stream) {
        boolean first = tries.attempt();
        if (LOG.isDebugEnabled()) {
            LOG.debugf(
                    "%s attempt %d: %s", request.requestId(), tries.attempts(), decided.decision());
        }
        Attempt next = attemptAt(decided, stream);
        attempt = next;
        booked(decided);
        if (session != null) {
            session.sent(next.candidate());
        }
        if (first) {
            flow.metrics.leaves(nanosSinceStart() - queued);
        }
        if (session == null) {
            start(next, freshConnection, stream);
            return;
        }
        Candidate to = next.candidate();
        session.prepare(
                to,
                prompt.ids(to.worker(), request),
                new SessionTurn.Ready() {
                    @Override
                    public void go() {
                        if (!over && attempt == next) {
                            start(next, freshConnection, stream);
                        }
                    }

                    @Override
                    public void refused(GatewayError error) {
                        refuse(Outcome.UPSTREAM_FAILED, error);
                    }
                });
    }

    private void start(Attempt next, boolean freshConnection, @Nullable Continued stream) {
        try {
            next.start(freshConnection);
            if (stream == null) {
                hedging.later();
            }
        } catch (GatewayException e) {
            if (stream != null) {
                breakAnswer(e.error(), true);
                return;
            }
            refuse(Outcome.REJECTED, e.error()); // this worker cannot be asked so
        } catch (RuntimeException e) {
            crashed(e);
        }
    }

    Attempt attemptAt(Planner.Decided decided, @Nullable Continued stream) {
        int length = prompt.length(decided.decision().chosen().candidate().worker());
        return new Attempt(this, decided, stream != null || length == 0 ? -1 : length, stream);
    }

    void booked(Planner.Decided decided) {
        flow.planner.booked(request, decided.decision(), prompt.tokens());
    }

    /** The attempt that was asked first or goes on alone; null when there is none. */
    @Nullable Attempt running() {
        return attempt;
    }

    /** This one answers the client; another one that was asked beside it is stopped. */
    void won(Attempt winner) {
        Attempt loser = hedging.won(winner, attempt);
        if (loser != null) {
            nowRuns(winner);
            loser.abandon();
        }
    }

    /**
     * This one has failed before it answered; another one that was asked beside it goes on alone.
     *
     * @return false when there is none
     */
    boolean leftToOther(Attempt failed) {
        Attempt other = hedging.leftBy(failed, attempt);
        if (other == null) {
            return false;
        }
        long worker = failed.candidate().worker().id();
        tries.failed(worker);
        tries.hasBegun(worker);
        nowRuns(other);
        failed.detach();
        return true;
    }

    private void nowRuns(Attempt other) {
        if (attempt != other) {
            attempt = other;
            if (session != null) {
                session.sent(other.candidate());
            }
        }
    }

    /**
     * Tries another worker, if there is one, the request has not been sent to too many already and
     * there have not been too many retries lately.
     *
     * @return false when the caller has to answer with what it has
     */
    boolean retryElsewhere(Attempt failed, RetryCause cause) {
        long worker = failed.candidate().worker().id();
        tries.failed(worker);
        if (cause != RetryCause.UNREACHABLE) {
            tries.hasBegun(worker);
        }
        if (over || !tries.mayGoOn() || request.pinnedWorker().isPresent()) {
            return false;
        }
        // Who could not be reached has not begun: nothing is done twice.
        if (cause != RetryCause.UNREACHABLE && !flow.retries.mayRetry()) {
            flow.metrics.retryRefused();
            return false;
        }
        Planner.Decided second = decideElsewhere(c -> true);
        if (second == null) {
            return false;
        }
        failed.detach();
        flow.metrics.retried(cause);
        // A new connection: when several engines restart together, the pooled ones to this worker
        // may be dead too.
        attempt(second, true);
        return true;
    }

    /**
     * @param fit which candidates can be asked
     * @return null: nobody is there who has not failed this request
     */
    Planner.@Nullable Decided decideElsewhere(Predicate<Candidate> fit) {
        List<Candidate> others =
                Planner.candidates(flow.fleet, request.model(), tries.failed(), draw).stream()
                        .filter(fit)
                        .toList();
        if (others.isEmpty()) {
            return null;
        }
        if (session != null) {
            session.narrowed(others);
        }
        try {
            return flow.planner.decide(
                    request,
                    others,
                    prompt.tokens(),
                    prompt.named(),
                    null,
                    queued,
                    w -> "failed this request",
                    trace);
        } catch (GatewayException e) {
            // The pinned rank exists on the failed worker only.
            LOG.debugf("%s no second attempt: %s", request.requestId(), e.getMessage());
            return null;
        }
    }

    /** What has been kept of the answer; null: it will not go on elsewhere. */
    @Nullable Relocation relocation() {
        return relocation;
    }

    /**
     * Goes on elsewhere with an answer that has begun to reach the client.
     *
     * @param stream it is one of events
     * @return false when the caller has to break it
     */
    boolean moveElsewhere(Attempt failed, GatewayError error, boolean stream) {
        if (over || !flow.migration.isOn()) {
            return false;
        }
        Relocation moving = relocation;
        if (moving != null) {
            tries.failed(failed.candidate().worker().id());
            return moving.move(failed, error);
        }
        WhyNot never = Relocation.whyNever(this, stream, failed.candidate());
        flow.migration.refused(never == null ? WhyNot.TOO_LARGE : never);
        return false;
    }

    /** Those beside this one that have not failed the request. */
    List<Candidate> others(Attempt from) {
        long worker = from.candidate().worker().id();
        return Planner.candidates(flow.fleet, request.model(), tries.failed(), draw).stream()
                .filter(c -> c.worker().id() != worker)
                .toList();
    }

    /** Those that are well and could take over from this one. */
    List<Candidate> wellOthers(Attempt from) {
        return over || request.pinnedWorker().isPresent()
                ? List.of()
                : others(from).stream()
                        .filter(c -> c.worker().state() == WorkerState.READY)
                        .toList();
    }

    /**
     * Runs {@code move} when its stream, which the client is reading, would not have to be broken.
     */
    void whenMovable(Attempt from, List<Candidate> others, Runnable move) {
        Relocation moving = relocation;
        if (!over && flow.migration.isOn() && moving != null) {
            moving.whenPossible(from, others, move);
        }
    }

    boolean isOver() {
        return over;
    }

    /** On the request's event loop; what goes wrong there is a bug. */
    void later(Runnable step) {
        context.runOnContext(
                v -> {
                    try {
                        step.run();
                    } catch (RuntimeException e) {
                        crashed(e);
                    }
                });
    }

    /** Ends an answer of which the client has a part. */
    void breakAnswer(GatewayError error, boolean betweenEvents) {
        finish(Outcome.BROKEN_MID_ANSWER);
        // A full answer means that the client has stopped reading; it would not see the event.
        if (betweenEvents && !answer.isFull()) {
            answer.endWithErrorEvent(error);
        } else {
            answer.reset();
        }
    }

    /** Tries the same worker again over a new connection. */
    boolean retryOnFreshConnection(Attempt failed) {
        if (over || tries.areMany()) {
            return false;
        }
        tries.hasBegun(failed.candidate().worker().id());
        failed.detach();
        flow.metrics.retried(RetryCause.STALE_CONNECTION);
        attempt(failed.decided(), true);
        return true;
    }

    /** Asks the same worker again with the whole prompt, when it has lost the turn's session. */
    boolean askAgainInFull(Attempt failed) {
        if (over || tries.areMany() || session == null || !session.askAgain()) {
            return false;
        }
        failed.detach();
        attempt(failed.decided(), false);
        return true;
    }

    /**
     * Waits a moment and asks all workers again, once, when none could be reached.
     *
     * @return false when that has been done already
     */
    boolean retryAllLater(Attempt failed) {
        if (over || !tries.secondRound()) {
            return false;
        }
        failed.detach();
        attempt = null;
        context.owner().setTimer(SECOND_ROUND_MILLIS, t -> decide(prompt.tokens()));
        return true;
    }

    private List<Candidate> candidates() {
        List<Candidate> all =
                request.pinnedWorker().isPresent()
                        ? Planner.anybody(flow.fleet.snapshot(), request.model(), List.of())
                        : Planner.candidates(flow.fleet, request.model(), List.of(), draw);
        SessionTurn turn = session;
        return turn == null ? all : turn.narrow(all);
    }

    /** What listens to the engine, and warms it for the next turn when the client wants that. */
    UpstreamListener nextTurn(Candidate to, UpstreamListener client) {
        return form.isAsSent()
                ? NextTurn.beside(
                        flow,
                        context,
                        request,
                        to,
                        prompt.length(to.worker()),
                        prompt.blocks(to.worker()),
                        client)
                : client;
    }

    /** An engine has counted this request's tokens; -1 where it has not. */
    void used(long promptTokens, long outputTokens) {
        if (visit != null && (promptTokens >= 0 || outputTokens >= 0)) {
            visit.used(Math.max(0, promptTokens) + Math.max(0, outputTokens));
        }
    }

    /** What listens to the answer as the client gets it. */
    UpstreamListener answerTo(UpstreamListener client) {
        return session == null ? client : session.listener(client);
    }

    /** What the engine is told of the request's session. */
    BodyChanges sessionChanges(BodyChanges so) {
        return session == null ? so : session.changes(so);
    }

    /** What became of its session; null when it has none. */
    @Nullable String sessionWord() {
        return session == null ? null : session.word();
    }

    /** Idle time after which its session ends, where its client said one. */
    OptionalInt sessionTimeoutSeconds() {
        return session == null ? OptionalInt.empty() : session.timeoutSeconds();
    }

    /**
     * The answer has begun to reach the client: nobody else will be asked, but to go on with it.
     *
     * @param kept of the answer; null: it will not go on elsewhere
     */
    void answered(@Nullable Relocation kept) {
        relocation = kept;
        BodyMemory.answered(context);
        if (kept == null) {
            request = request.answered();
            prompt.forget();
        } else {
            request = request.begun();
        }
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
        answer.settled();
        attempt = null;
        hedging.end();
        entrance = null;
        if (session != null) {
            session.ended();
        }
        if (relocation != null) {
            relocation.ended(outcome);
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
        Attempt beside = hedging.end();
        if (running != null) {
            running.abandon();
        }
        if (beside != null) {
            beside.abandon();
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
