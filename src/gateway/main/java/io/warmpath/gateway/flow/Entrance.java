package io.warmpath.gateway.flow;

import io.vertx.core.Context;
import io.warmpath.admission.ModelQueue;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.FlowMetrics.Overload;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.prompt.EnginePrompts;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.prefix.PrefixMatch;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One request between its tokens and its decision: refused while all that it may go to are busy,
 * waiting while they are full, then let in.
 *
 * <p>On the request's event loop. Entered once; ends once, by {@link Next#start}, by {@link
 * Next#refused} or by {@link #leave}.
 */
final class Entrance {
    /** What follows. */
    interface Next {
        /**
         * Its load is booked when this returns. A {@link GatewayException} is a refusal.
         *
         * @param candidates not empty, and without the busy ones
         * @param known what the index has said already; null: it is to be asked
         * @param queuedNanos how long it has waited
         */
        void start(List<Candidate> candidates, @Nullable List<PrefixMatch> known, long queuedNanos);

        void refused(Outcome outcome, GatewayError error);

        /** A bug. */
        void crashed(RuntimeException cause);
    }

    private final RequestFlow flow;
    private final InferenceRequest request;
    private final Supplier<List<Candidate>> who;
    private final Next next;
    private @Nullable Line line;
    private boolean left;

    /**
     * @param who may be chosen now, in any state of load; asked again after waiting, on any thread
     */
    Entrance(RequestFlow flow, InferenceRequest request, Supplier<List<Candidate>> who, Next next) {
        this.flow = flow;
        this.request = request;
        this.who = who;
        this.next = next;
    }

    /**
     * @param tokens the prompt, or null when it is not known
     * @param mayWait false: whoever would have to wait is refused
     */
    void enter(Context context, @Nullable EnginePrompts tokens, boolean mayWait) {
        guarded(() -> tryEnter(context, tokens, mayWait));
    }

    private void tryEnter(Context context, @Nullable EnginePrompts tokens, boolean mayWait) {
        List<Candidate> candidates = who.get();
        if (candidates.isEmpty()) {
            noWorker();
            return;
        }
        List<Candidate> free = flow.admission.free(request.model(), candidates);
        if (isBusy(flow.planner, request, candidates, free)) {
            refuse(Overload.BUSY);
            return;
        }
        ModelQueue queue = flow.admission.queue(request.model());
        if (queue == null) {
            next.start(free, null, 0);
            return;
        }
        Line mine = new Line(flow, request, queue, who);
        line = mine;
        List<PrefixMatch> matches = flow.planner.matches(request, free, tokens);
        switch (mine.enter(context, mayWait, free, tokens, matches, this::called)) {
            case TAKEN -> {}
            case FULL -> refuse(Overload.QUEUE_FULL);
            case NO_WAIT -> refuse(Overload.NO_WAIT);
        }
    }

    /** The client has gone. Nothing when the request has been let in or refused. */
    void leave() {
        left = true;
        Line waiting = line;
        line = null;
        if (waiting != null) {
            waiting.leave();
        }
    }

    private void called(@Nullable List<PrefixMatch> known, long queuedNanos) {
        line = null;
        if (!left) {
            guarded(() -> letIn(known, queuedNanos));
        }
    }

    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (GatewayException e) {
            next.refused(Outcome.REJECTED, e.error());
        } catch (RuntimeException e) {
            next.crashed(e);
        }
    }

    private void letIn(@Nullable List<PrefixMatch> known, long queuedNanos) {
        // A newer snapshot: waiting may have taken a while.
        List<Candidate> candidates = who.get();
        if (candidates.isEmpty()) {
            noWorker();
            return;
        }
        List<Candidate> free = flow.admission.free(request.model(), candidates);
        // It has waited for its turn; that somebody got busy in this moment does not take it.
        next.start(
                isBusy(flow.planner, request, candidates, free) ? candidates : free,
                known,
                queuedNanos);
    }

    /**
     * Pins and taints leave somebody, but nobody who is free. What nobody meets is refused later.
     */
    static boolean isBusy(
            Planner planner,
            InferenceRequest request,
            List<Candidate> candidates,
            List<Candidate> free) {
        return free != candidates
                && planner.eligible(request, free).isEmpty()
                && !planner.eligible(request, candidates).isEmpty();
    }

    private void noWorker() {
        next.refused(
                Outcome.NO_WORKER,
                new GatewayError.NoHealthyWorker(request.model(), flow.options.retryAfter()));
    }

    private void refuse(Overload cause) {
        line = null;
        flow.metrics.overloaded(cause);
        next.refused(Outcome.OVERLOADED, overloaded(flow, request, cause));
    }

    static GatewayError overloaded(RequestFlow flow, InferenceRequest request, Overload cause) {
        String model = "`" + request.model() + "`";
        String why =
                switch (cause) {
                    case BUSY -> "All workers of " + model + " that may serve this are busy";
                    case QUEUE_FULL -> "The queue of " + model + " for requests like this is full";
                    case NO_WAIT ->
                            "This would have to wait for a worker of "
                                    + model
                                    + ", which `wait` forbids";
                };
        return new GatewayError.Overloaded(
                flow.admission.options().overloadStatus(), why, flow.options.retryAfter());
    }
}
