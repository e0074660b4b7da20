package io.warmpath.gateway.flow;

import io.vertx.core.Context;
import io.warmpath.access.Visit;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.agent.SessionTurn;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.answer.Continued;
import io.warmpath.gateway.answer.TimedAnswer;
import io.warmpath.gateway.migration.WhyNot;
import io.warmpath.gateway.observe.DecisionCause;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.FlowMetrics.RetryCause;
import io.warmpath.gateway.plan.Entrance;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.plan.Planning;
import io.warmpath.gateway.plan.Waited;
import io.warmpath.gateway.prompt.EnginePrompts;
import io.warmpath.gateway.prompt.TokenStep;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.routing.NotExact;
import java.time.Duration;
import java.util.List;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way: tokens, admission, decision, attempts, one end. {@link RequestState} has
 * the table of its states.
 *
 * <p>It is sent to a few workers at most ({@link Retries}): one that takes a worker down must not
 * take down the fleet. Workers that cannot even be reached do not count, they have not seen it.
 *
 * <p>Where its first token is late another worker may be asked beside the first (a hedge): whoever
 * answers first goes on, the other one is stopped.
 *
 * <p>All methods on the request's event loop.
 */
final class Exchange
        implements TokenStep.Next,
                Entrance.Next,
                TimedAnswer.Owner,
                AttemptOwner,
                Hedging.Owner,
                Relocation.Owner {
    private static final Logger LOG = Logger.getLogger(Exchange.class);

    /** All workers refused: an engine that is just being replaced listens again after a moment. */
    private static final long SECOND_ROUND_MILLIS = 150;

    private final RequestScope scope;
    private final @Nullable Hedging hedging;
    private @Nullable Relocation relocation;
    private @Nullable Attempt attempt;
    private @Nullable Entrance entrance;
    private RequestState state = RequestState.ARRIVED;

    Exchange(
            FlowParts parts,
            TimedAnswer.Times times,
            Context context,
            InferenceRequest request,
            Answer answer,
            EngineForm form,
            @Nullable Visit visit) {
        long started = parts.nanoTime().getAsLong();
        parts.metrics().started();
        parts.retries().request();
        TimedAnswer timed = new TimedAnswer(answer, this, request, context, times, started);
        this.scope = new RequestScope(parts, context, request, form, timed, started, visit);
        this.hedging = parts.retries().hedging() ? new Hedging(scope, this) : null;
    }

    private void become(RequestState next) {
        assert state.mayBecome(next) : state + " to " + next;
        state = next;
    }

    @Override
    public boolean isOver() {
        return state == RequestState.OVER;
    }

    void begin() {
        try {
            GatewayError why = scope.whyUnserved();
            if (why != null) {
                refused(why.httpStatus() == 503 ? Outcome.NO_WORKER : Outcome.REJECTED, why);
                return;
            }
            scope.served();
            List<Candidate> candidates = WorkerChoice.candidates(scope);
            if (candidates.isEmpty()) {
                refused(Outcome.NO_WORKER, scope.noWorker());
                return;
            }
            become(RequestState.TOKENISING);
            TokenStep.Next next =
                    scope.trace == null
                            ? this
                            : new TracedTokens(scope.trace, scope, this::isOver, this);
            scope.parts.planning().tokens().run(scope.context, scope.request(), candidates, next);
        } catch (GatewayException e) {
            refused(Outcome.REJECTED, e.error());
        } catch (RuntimeException e) {
            crashed(e);
        }
    }

    @Override
    public void tokens(@Nullable EnginePrompts prompt) {
        scope.prompt.known(prompt);
        enter();
    }

    @Override
    public void without(NotExact why) {
        scope.prompt.unknown(why);
        enter();
    }

    private void enter() {
        if (isOver()) {
            return;
        }
        become(RequestState.QUEUED);
        Entrance mine =
                new Entrance(
                        scope.parts.planning().entrance(),
                        scope.request(),
                        () -> WorkerChoice.candidates(scope),
                        this);
        entrance = mine;
        mine.enter(scope.context, scope.prompt.tokens(), true);
    }

    @Override
    public void start(
            List<Candidate> candidates, @Nullable List<PrefixMatch> known, Waited waited) {
        entrance = null; // it holds the prompt
        scope.waited(waited);
        ask(WorkerChoice.first(scope, candidates, known), false, null);
    }

    /** {@code stream}: that it goes on with; null: it begins the answer. */
    private void ask(Planner.Decided decided, boolean freshConnection, @Nullable Continued stream) {
        become(stream == null ? RequestState.ASKED : RequestState.ANSWERING);
        boolean first = scope.retryState.attempt();
        if (LOG.isDebugEnabled()) {
            LOG.debugf(
                    "%s attempt %d: %s",
                    scope.request().requestId(), scope.retryState.attempts(), decided.decision());
        }
        Attempt next = new Attempt(scope, this, decided, stream);
        attempt = next;
        scope.booked(decided);
        scope.sentTo(next.candidate());
        if (first) {
            scope.parts.metrics().leaves(scope.nanosSinceStart() - scope.queued());
        }
        SessionTurn session = scope.session();
        if (session == null) {
            send(next, freshConnection, stream);
            return;
        }
        Candidate to = next.candidate();
        session.prepare(
                to,
                scope.prompt.ids(to.worker(), scope.request()),
                new SessionTurn.Ready() {
                    @Override
                    public void go() {
                        if (!isOver() && attempt == next) {
                            send(next, freshConnection, stream);
                        }
                    }

                    @Override
                    public void refused(GatewayError error) {
                        Exchange.this.refused(Outcome.UPSTREAM_FAILED, error);
                    }
                });
    }

    private void send(Attempt next, boolean freshConnection, @Nullable Continued stream) {
        try {
            next.start(freshConnection);
            if (stream == null && hedging != null) {
                hedging.later();
            }
        } catch (GatewayException e) {
            if (stream != null) {
                breakAnswer(e.error(), true);
                return;
            }
            refused(Outcome.REJECTED, e.error()); // this worker cannot be asked so
        } catch (RuntimeException e) {
            crashed(e);
        }
    }

    @Override
    public @Nullable Attempt running() {
        return attempt;
    }

    @Override
    public Attempt beside(Planner.Decided second) {
        return new Attempt(scope, this, second, null);
    }

    @Override
    public void won(Attempt winner) {
        become(RequestState.ANSWERING);
        Attempt loser = hedging == null ? null : hedging.won(winner, attempt);
        if (loser != null) {
            nowRuns(winner);
            loser.abandon();
        }
    }

    @Override
    public boolean leftToOther(Attempt failed) {
        Attempt other = hedging == null ? null : hedging.leftBy(failed, attempt);
        if (other == null) {
            return false;
        }
        long worker = failed.candidate().worker().id();
        scope.retryState.failed(worker);
        if (!failed.isFull()) {
            scope.retryState.hasBegun(worker);
        }
        nowRuns(other);
        failed.detach();
        return true;
    }

    private void nowRuns(Attempt other) {
        if (attempt != other) {
            attempt = other;
            scope.sentTo(other.candidate());
        }
    }

    @Override
    public boolean retryElsewhere(Attempt failed, RetryCause cause) {
        return retry(failed.candidate(), cause, failed);
    }

    @Override
    public boolean retry(Candidate failed, RetryCause cause, @Nullable Attempt of) {
        if (isOver()) {
            return false;
        }
        boolean full = cause == RetryCause.FULL;
        boolean begun = !full && cause != RetryCause.UNREACHABLE;
        boolean pinned = scope.request().routing().pinnedWorker().isPresent();
        switch (scope.parts
                .retries()
                .failed(scope.retryState, failed.worker().id(), begun, pinned)) {
            case NO_OTHER -> {
                return false;
            }
            case NO_BUDGET -> {
                scope.parts.metrics().retryRefused();
                return false;
            }
            case ELSEWHERE -> {}
        }
        Planner.Decided second =
                WorkerChoice.elsewhere(
                        scope, DecisionCause.RETRY, c -> !full || c.worker().hasRoom());
        if (second == null) {
            return false;
        }
        if (of != null) {
            of.detach();
        }
        scope.parts.metrics().retried(cause);
        // A new connection: when several engines restart together, the pooled ones to this worker
        // may be dead too.
        ask(second, true, null);
        return true;
    }

    @Override
    public boolean retryOnFreshConnection(Attempt failed) {
        if (isOver() || scope.retryState.areMany()) {
            return false;
        }
        scope.retryState.hasBegun(failed.candidate().worker().id());
        failed.detach();
        scope.parts.metrics().retried(RetryCause.STALE_CONNECTION);
        ask(failed.decided(), true, null);
        return true;
    }

    @Override
    public boolean askAgainInFull(Attempt failed) {
        SessionTurn session = scope.session();
        if (isOver() || scope.retryState.areMany() || session == null || !session.askAgain()) {
            return false;
        }
        failed.detach();
        ask(failed.decided(), false, null);
        return true;
    }

    @Override
    public boolean retryAllLater(Attempt failed) {
        if (isOver() || !scope.retryState.secondRound()) {
            return false;
        }
        failed.detach();
        pause();
        return true;
    }

    @Override
    public boolean waitForRoom(@Nullable Attempt of) {
        Planning planning = scope.parts.planning();
        if (isOver()
                || !scope.parts.retries().again()
                || planning.entrance().admission().queue(scope.request().model()) == null
                || !scope.retryState.startOver()) {
            return false;
        }
        if (of != null) {
            of.detach();
        }
        pause();
        return true;
    }

    private void pause() {
        attempt = null;
        become(RequestState.PAUSED);
        scope.context.owner().setTimer(SECOND_ROUND_MILLIS, t -> enter());
    }

    @Override
    public @Nullable Relocation keep(Candidate from, int promptTokens) {
        return Relocation.of(scope, this, from, promptTokens);
    }

    @Override
    public void answered(@Nullable Relocation kept) {
        relocation = kept;
        scope.answered(kept != null);
    }

    @Override
    public Planner.@Nullable Decided wentTo(long worker) {
        Planner.Decided there =
                isOver()
                        ? null
                        : WorkerChoice.elsewhere(
                                scope, DecisionCause.RETRY, c -> c.worker().id() == worker);
        if (there != null) {
            scope.booked(there);
            scope.sentTo(there.decision().chosen().candidate());
        }
        return there;
    }

    @Override
    public List<Candidate> wellOthers(Attempt from) {
        return isOver() ? List.of() : WorkerChoice.wellOthers(scope, from.candidate());
    }

    @Override
    public void whenMovable(Attempt from, List<Candidate> others, Runnable move) {
        if (!isOver() && relocation != null) {
            relocation.whenPossible(from, others, move);
        }
    }

    @Override
    public boolean moveElsewhere(
            Attempt failed, Candidate worker, GatewayError error, boolean stream) {
        if (isOver() || !scope.parts.moving().migration().isOn()) {
            return false;
        }
        Relocation moving = relocation;
        if (moving != null) {
            scope.retryState.failed(worker.worker().id());
            become(RequestState.MOVING);
            return moving.move(failed, error);
        }
        WhyNot never = Relocation.whyNever(scope, stream, failed.candidate());
        scope.parts.moving().migration().refused(never == null ? WhyNot.TOO_LARGE : never);
        return false;
    }

    @Override
    public void goOn(Planner.Decided decided, Continued stream) {
        ask(decided, true, stream);
        Attempt next = attempt;
        if (next != null && !scope.request().hints().extras().isEmpty()) {
            scope.answer.facts(next::facts);
        }
    }

    @Override
    public void completed(byte[] end) {
        finish(Outcome.OK);
        scope.answer.end(end, 0, end.length);
    }

    @Override
    public void later(Runnable step) {
        scope.context.runOnContext(
                v -> {
                    try {
                        step.run();
                    } catch (RuntimeException e) {
                        crashed(e);
                    }
                });
    }

    /** The client closed its connection: stop the engine now, not when its next token comes. */
    void clientGone() {
        if (!isOver()) {
            stop(Outcome.CANCELLED);
        }
    }

    @Override
    public void overtime(Duration limit) {
        if (!isOver()) {
            stop(Outcome.TIMED_OUT);
            scope.answer.cutOff(new GatewayError.RequestTimeout(limit));
        }
    }

    private void stop(Outcome outcome) {
        Attempt running = attempt;
        Attempt beside = endHedge();
        Entrance waiting = entrance;
        finish(outcome);
        abandon(beside);
        if (waiting != null) {
            waiting.leave();
        }
        abandon(running);
    }

    private static void abandon(@Nullable Attempt one) {
        if (one != null) {
            one.abandon();
        }
    }

    private @Nullable Attempt endHedge() {
        return hedging == null ? null : hedging.end();
    }

    @Override
    public void breakAnswer(GatewayError error, boolean betweenEvents) {
        finish(Outcome.BROKEN_MID_ANSWER);
        // A full answer means that the client has stopped reading; it would not see the event.
        if (betweenEvents && !scope.answer.isFull()) {
            scope.answer.endWithErrorEvent(error);
        } else {
            scope.answer.reset();
        }
    }

    @Override
    public void refused(Outcome outcome, GatewayError error) {
        if (!isOver()) {
            scope.refused(error);
            finish(outcome);
            scope.answer.fail(error);
        }
    }

    @Override
    public void finish(Outcome outcome) {
        become(RequestState.OVER);
        scope.answer.settled();
        attempt = null;
        endHedge();
        entrance = null;
        SessionTurn session = scope.session();
        if (session != null) {
            session.ended();
        }
        if (relocation != null) {
            relocation.ended(outcome);
        }
        scope.ended(outcome);
    }

    @Override
    public void crashed(RuntimeException cause) {
        LOG.errorf(cause, "request %s failed by a bug in the gateway", scope.request().requestId());
        Attempt running = attempt;
        Attempt beside = endHedge();
        abandon(running);
        abandon(beside);
        if (isOver()) {
            return;
        }
        boolean begun = state == RequestState.ANSWERING || state == RequestState.MOVING;
        finish(Outcome.INTERNAL);
        if (begun) {
            scope.answer.reset();
        } else {
            scope.answer.fail(new GatewayError.Internal(scope.request().requestId()));
        }
    }
}
