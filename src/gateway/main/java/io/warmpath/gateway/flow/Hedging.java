package io.warmpath.gateway.flow;

import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.observe.DecisionCause;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.observe.FlowMetrics.Hedge;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.request.InferenceRequest;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Another worker that is asked beside the first, when the first token of a request is late. Once
 * for a request at most. Confined to its event loop.
 */
final class Hedging {
    /** Whose attempts they are. */
    interface Owner {
        /** The attempt that was asked first or goes on alone; null when there is none. */
        @Nullable Attempt running();

        /** One more, not yet started. */
        Attempt beside(Planner.Decided second);

        void crashed(RuntimeException cause);
    }

    private final RequestScope scope;
    private final Owner owner;
    private @Nullable Attempt beside; // until one of both answers
    private long timer = -1;
    private boolean tried;

    Hedging(RequestScope scope, Owner owner) {
        this.scope = scope;
        this.owner = owner;
    }

    /** Has another worker asked when the first token takes longer than most did lately. */
    void later() {
        InferenceRequest request = scope.request();
        if (tried
                || timer >= 0
                || !request.stream()
                || request.routing().pinnedWorker().isPresent()
                || request.hints().session() != null) {
            return;
        }
        long nanos = scope.parts.retries().hedgeNanos(request.model());
        if (nanos >= 0) {
            long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
            timer = scope.context.owner().setTimer(millis, t -> now());
        }
    }

    private void now() {
        timer = -1;
        Attempt late = owner.running();
        if (late == null || late.passesOn() || !scope.retryState.mayHedge()) {
            return;
        }
        tried = true;
        FlowMetrics metrics = scope.parts.metrics();
        try {
            long worker = late.candidate().worker().id();
            if (!scope.parts.retries().mayHedge()) {
                metrics.hedged(Hedge.NO_BUDGET);
                return;
            }
            Planner.Decided second =
                    WorkerChoice.elsewhere(
                            scope, DecisionCause.HEDGE, c -> c.worker().id() != worker);
            if (second == null) {
                metrics.hedged(Hedge.NO_WORKER);
                return;
            }
            scope.retryState.attempt();
            Attempt next = owner.beside(second);
            beside = next;
            scope.booked(second);
            next.start(true);
            metrics.hedged(Hedge.SENT);
        } catch (GatewayException e) {
            beside = null; // that worker cannot be asked so; the first one still can answer
            metrics.hedged(Hedge.NO_WORKER);
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    /**
     * The first token is there.
     *
     * @param first the attempt that was asked first
     * @return the one that lost and is to be stopped; null where only one was asked
     */
    @Nullable Attempt won(Attempt winner, @Nullable Attempt first) {
        stopWaiting();
        Attempt second = beside;
        if (second == null || first == null) {
            return null;
        }
        beside = null;
        scope.parts.metrics().hedged(winner == first ? Hedge.LOST : Hedge.WON);
        return winner == first ? second : first;
    }

    /**
     * One of the two has failed before it answered.
     *
     * @param first the attempt that was asked first
     * @return the one that goes on alone; null where only one was asked
     */
    @Nullable Attempt leftBy(Attempt failed, @Nullable Attempt first) {
        Attempt second = beside;
        if (second == null || first == null || (failed != second && failed != first)) {
            return null;
        }
        beside = null;
        scope.parts.metrics().hedged(failed == second ? Hedge.LOST : Hedge.WON);
        return failed == second ? first : second;
    }

    /** The request is over. Returns who was asked beside, and may have to be stopped. */
    @Nullable Attempt end() {
        stopWaiting();
        Attempt second = beside;
        beside = null;
        return second;
    }

    private void stopWaiting() {
        if (timer >= 0) {
            scope.context.owner().cancelTimer(timer);
            timer = -1;
        }
    }
}
