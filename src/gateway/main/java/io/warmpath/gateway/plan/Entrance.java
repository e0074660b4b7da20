package io.warmpath.gateway.plan;

import io.vertx.core.Context;
import io.warmpath.admission.ModelQueue;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.FlowMetrics.Overload;
import io.warmpath.gateway.prompt.EnginePrompts;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.prefix.PrefixMatch;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One request between its tokens and its decision: refused while all that it may go to are busy,
 * waiting while they are full, then let in. On the request's event loop. Entered once; ends once,
 * by {@link Next#start}, by {@link Next#refused} or by {@link #leave}.
 */
public final class Entrance {
    /** What follows. */
    public interface Next {
        /**
         * Its load is booked when this returns. A {@link GatewayException} is a refusal.
         *
         * @param candidates not empty, and without the busy ones
         * @param known what the index has said already; null: it is to be asked
         */
        void start(List<Candidate> candidates, @Nullable List<PrefixMatch> known, Waited waited);

        void refused(Outcome outcome, GatewayError error);

        /** A bug. */
        void crashed(RuntimeException cause);
    }

    private static final long MOST_RETRY_SECONDS = 60;

    private final EntranceParts parts;
    private final InferenceRequest request;
    private final Supplier<List<Candidate>> who;
    private final Next next;
    private @Nullable QueueEntry entry;
    private boolean left;

    /**
     * @param who may be chosen now, in any state of load; asked again after waiting, on any thread
     */
    public Entrance(
            EntranceParts parts,
            InferenceRequest request,
            Supplier<List<Candidate>> who,
            Next next) {
        this.parts = parts;
        this.request = request;
        this.who = who;
        this.next = next;
    }

    /**
     * @param tokens the prompt, or null when it is not known
     * @param mayWait false: whoever would have to wait is refused
     */
    public void enter(Context context, @Nullable EnginePrompts tokens, boolean mayWait) {
        guarded(() -> tryEnter(context, tokens, mayWait));
    }

    private void tryEnter(Context context, @Nullable EnginePrompts tokens, boolean mayWait) {
        List<Candidate> candidates = who.get();
        if (candidates.isEmpty()) {
            noWorker();
            return;
        }
        List<Candidate> free = parts.admission().free(request.model(), candidates);
        if (isBusy(parts.planner(), request, candidates, free)) {
            refuse(Overload.BUSY);
            return;
        }
        ModelQueue queue = parts.admission().queue(request.model());
        if (queue == null) {
            next.start(free, null, Waited.NOT_AT_ALL);
            return;
        }
        QueueEntry mine = new QueueEntry(parts, request, queue, who);
        entry = mine;
        List<PrefixMatch> matches = parts.planner().matches(request, free, tokens);
        switch (mine.enter(context, mayWait, free, tokens, matches, this::called)) {
            case TAKEN -> {}
            case FULL -> refuse(Overload.QUEUE_FULL);
            case OVER_SHARE -> overShare(mine.overShareNanos());
            case NO_WAIT -> refuse(Overload.NO_WAIT);
        }
    }

    /** The client has gone. Nothing when the request has been let in or refused. */
    public void leave() {
        left = true;
        QueueEntry waiting = entry;
        entry = null;
        if (waiting != null) {
            waiting.leave();
        }
    }

    private void called(@Nullable List<PrefixMatch> known, Waited waited) {
        entry = null;
        if (!left) {
            guarded(() -> letIn(known, waited));
        }
    }

    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (GatewayException e) {
            boolean overload = e.error() instanceof GatewayError.Overloaded;
            next.refused(overload ? Outcome.OVERLOADED : Outcome.REJECTED, e.error());
        } catch (RuntimeException e) {
            next.crashed(e);
        }
    }

    private void letIn(@Nullable List<PrefixMatch> known, Waited waited) {
        // A newer snapshot: waiting may have taken a while.
        List<Candidate> candidates = who.get();
        if (candidates.isEmpty()) {
            noWorker();
            return;
        }
        List<Candidate> free = parts.admission().free(request.model(), candidates);
        // It has waited for its turn; that somebody got busy in this moment does not take it.
        next.start(
                isBusy(parts.planner(), request, candidates, free) ? candidates : free,
                known,
                waited);
    }

    /**
     * Pins and taints leave some workers, all of them busy. A pin or taint that excludes all
     * workers is refused later.
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
                new GatewayError.NoHealthyWorker(request.model(), parts.retryAfter()));
    }

    private void refuse(Overload cause) {
        entry = null;
        parts.metrics().overloaded(cause);
        next.refused(Outcome.OVERLOADED, overloaded(parts, request, cause));
    }

    private void overShare(long firstWaitedNanos) {
        entry = null;
        parts.metrics().overloaded(Overload.TENANT_SHARE);
        next.refused(
                Outcome.OVERLOADED,
                new GatewayError.OverShare(request.model(), retryAfter(firstWaitedNanos)));
    }

    /** A place is free again when the first one starts, and one that comes now waits as long. */
    private static Duration retryAfter(long firstWaitedNanos) {
        long seconds = Math.ceilDiv(firstWaitedNanos, 1_000_000_000L);
        return Duration.ofSeconds(Math.clamp(seconds, 1, MOST_RETRY_SECONDS));
    }

    /** All that could do a part of it are busy; counted. */
    public static GatewayException busy(EntranceParts parts, InferenceRequest request) {
        parts.metrics().overloaded(Overload.BUSY);
        return new GatewayException(overloaded(parts, request, Overload.BUSY));
    }

    static GatewayError overloaded(EntranceParts parts, InferenceRequest request, Overload cause) {
        String model = "`" + request.model() + "`";
        String why =
                switch (cause) {
                    case BUSY -> "All workers of " + model + " that may serve this are busy";
                    case TENANT_SHARE, QUEUE_FULL ->
                            "The queue of " + model + " for requests like this is full";
                    case NO_WAIT ->
                            "This would have to wait for a worker of "
                                    + model
                                    + ", which `wait` forbids";
                };
        return new GatewayError.Overloaded(
                parts.admission().options().overloadStatus(), why, parts.retryAfter());
    }
}
