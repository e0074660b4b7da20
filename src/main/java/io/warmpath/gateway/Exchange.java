package io.warmpath.gateway;

import io.vertx.core.Context;
import io.warmpath.admission.ModelQueue;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.FlowMetrics.Outcome;
import io.warmpath.gateway.FlowMetrics.Overload;
import io.warmpath.gateway.FlowMetrics.RetryCause;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.routing.RoutingDecision;
import java.util.ArrayList;
import java.util.List;
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
    final InferenceRequest request;
    final Answer answer;
    final EngineForm form;
    private final Context context;
    private final long started;
    private int @Nullable [] tokens;
    private final List<PromptBlocks> named = new ArrayList<>(1);
    private @Nullable Attempt attempt;
    private @Nullable Line line;
    private int attempts;
    private final List<Long> failedWorkers = new ArrayList<>(0);
    private final List<Long> sentTo = new ArrayList<>(0);
    private boolean secondRound;
    private boolean over;

    Exchange(
            RequestFlow flow,
            Context context,
            InferenceRequest request,
            Answer answer,
            EngineForm form) {
        this.flow = flow;
        this.context = context;
        this.request = request;
        this.answer = answer;
        this.form = form;
        this.started = flow.nanoTime.getAsLong();
    }

    void begin() {
        flow.metrics.started();
        try {
            FleetSnapshot fleet = flow.fleet.snapshot();
            if (!fleet.knows(request.model())) {
                refuse(Outcome.REJECTED, new GatewayError.UnknownModel(request.model()));
            } else if (Planner.candidates(fleet, request.model(), List.of()).isEmpty()) {
                refuse(Outcome.NO_WORKER, noWorker());
            } else {
                flow.tokenStep.run(context, request, this::decide);
            }
        } catch (RuntimeException e) {
            crashed(e);
        }
    }

    /** The client closed its connection: stop the engine now, not when its next token comes. */
    public void clientGone() {
        if (!over) {
            Attempt running = attempt;
            Line waiting = line;
            finish(Outcome.CANCELLED);
            if (waiting != null) {
                waiting.leave();
            }
            if (running != null) {
                running.abandon();
            }
        }
    }

    private void decide(int @Nullable [] promptTokens) {
        if (over) {
            return;
        }
        tokens = promptTokens;
        try {
            // A newer snapshot: tokenising may have taken a while.
            List<Candidate> candidates =
                    Planner.candidates(flow.fleet.snapshot(), request.model(), List.of());
            if (candidates.isEmpty()) {
                refuse(Outcome.NO_WORKER, noWorker());
                return;
            }
            admit(candidates);
        } catch (GatewayException e) {
            refuse(Outcome.REJECTED, e.error());
        } catch (RuntimeException e) {
            crashed(e);
        }
    }

    /** Refuses what would go to a busy worker, lets wait what has to wait. */
    private void admit(List<Candidate> candidates) {
        List<Candidate> free = flow.admission.free(request.model(), candidates);
        if (free != candidates && isBusy(candidates, free)) {
            overloaded(
                    Overload.BUSY, "All workers of `" + request.model() + "` that may serve this");
            return;
        }
        ModelQueue queue = flow.admission.queue(request.model());
        if (queue == null) {
            attempt(flow.planner.decide(request, free, tokens, named, null), false);
            return;
        }
        Line mine = new Line(flow, request, queue);
        line = mine;
        List<PrefixMatch> matches = flow.planner.matches(request, free, tokens);
        if (!mine.enter(context, free, tokens, matches, this::admitted)) {
            overloaded(
                    Overload.QUEUE_FULL,
                    "The queue of `" + request.model() + "` for requests like this");
        }
    }

    /**
     * Pins and taints leave somebody, but nobody who is free. What nobody meets is refused later.
     */
    private boolean isBusy(List<Candidate> candidates, List<Candidate> free) {
        return flow.planner.eligible(request, free).isEmpty()
                && !flow.planner.eligible(request, candidates).isEmpty();
    }

    private void overloaded(Overload cause, String what) {
        flow.metrics.overloaded(cause);
        refuse(
                Outcome.OVERLOADED,
                new GatewayError.Overloaded(
                        flow.admission.options().overloadStatus(),
                        what + (cause == Overload.BUSY ? " are busy" : " is full"),
                        flow.options.retryAfter()));
    }

    private void admitted(Line from, @Nullable List<PrefixMatch> matches) {
        if (over || line != from) {
            return;
        }
        line = null;
        try {
            // A newer snapshot: waiting may have taken a while.
            List<Candidate> candidates =
                    Planner.candidates(flow.fleet.snapshot(), request.model(), List.of());
            if (candidates.isEmpty()) {
                refuse(Outcome.NO_WORKER, noWorker());
                return;
            }
            List<Candidate> free = flow.admission.free(request.model(), candidates);
            // It has waited for its turn; that somebody got busy in this moment does not take it.
            List<Candidate> take = isBusy(candidates, free) ? candidates : free;
            attempt(flow.planner.decide(request, take, tokens, named, matches), false);
        } catch (GatewayException e) {
            refuse(Outcome.REJECTED, e.error());
        } catch (RuntimeException e) {
            crashed(e);
        }
    }

    private void attempt(RoutingDecision decision, boolean freshConnection) {
        attempts++;
        if (LOG.isDebugEnabled()) {
            LOG.debugf("%s attempt %d: %s", request.requestId(), attempts, decision);
        }
        Attempt next = new Attempt(this, decision, tokens == null ? -1 : tokens.length);
        attempt = next;
        flow.planner.booked(request, decision, tokens);
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
        RoutingDecision second;
        try {
            second = flow.planner.decide(request, others, tokens, named, null);
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
        attempt(failed.decision(), true);
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
        line = null;
        flow.metrics.ended(outcome, nanosSinceStart());
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
