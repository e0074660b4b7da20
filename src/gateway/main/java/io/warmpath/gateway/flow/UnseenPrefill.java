package io.warmpath.gateway.flow;

import io.vertx.core.Vertx;
import io.warmpath.gateway.plan.ComputedPrompts;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.rates.Sent;
import java.util.concurrent.TimeUnit;

/**
 * Finds out when the prompt of an answer in one piece is computed: the answer's first byte comes
 * with its last, when its worker has had room for another prompt for long. The engine's events show
 * the prompt's blocks; where they do not, the time that the router says counts. On the request's
 * event loop.
 */
final class UnseenPrefill {
    /** Looks at the events within the time that it should take. */
    private static final int LOOKS = 8;

    private static final long LEAST_NANOS = 2_000_000;

    /** Engines' events are waited for so many times as long as the prompt should take. */
    private static final int MOST_TIMES = 4;

    private static final long LEAST_WAIT_NANOS = 100_000_000;

    private final RequestScope scope;
    private final RoutingDecision decision;
    private final Sent sent;
    private final Runnable prefilled;
    private final long pauseNanos;
    private final long latest;
    private final boolean awaited;
    private final boolean canShow;
    private boolean told;
    private long timer;

    /**
     * @param prefilled is called once, unless {@link #stop} is called before
     * @param nanos that the prompt should take from now on
     */
    UnseenPrefill(
            RequestScope scope,
            RoutingDecision decision,
            Sent sent,
            Runnable prefilled,
            long nanos) {
        this.scope = scope;
        this.decision = decision;
        this.sent = sent;
        this.prefilled = prefilled;
        this.pauseNanos = Math.max(LEAST_NANOS, nanos / LOOKS);
        this.latest = scope.now() + Math.max(LEAST_WAIT_NANOS, MOST_TIMES * nanos);
        this.canShow =
                scope.parts.planning().entrance().admission().looksAtLoad()
                        && signs().canShow(decision, scope.prompt);
        this.awaited = canShow && signs().areExpected(decision);
        if (awaited) {
            sent.willShow();
        }
        later(nanos);
    }

    private ComputedPrompts signs() {
        return scope.parts.planning().planner().computed();
    }

    private void later(long nanos) {
        Vertx vertx = scope.context.owner();
        long pause = awaited ? Math.min(nanos, pauseNanos) : nanos;
        long millis = TimeUnit.NANOSECONDS.toMillis(pause + 999_999);
        timer = vertx.setTimer(Math.max(1, millis), t -> look());
    }

    private void look() {
        boolean shown = awaited && signs().isShown(scope.request(), decision, scope.prompt);
        if (shown || (awaited && scope.now() - latest > 0)) {
            sent.prefilled();
            told = true;
            signs().told(decision, shown);
        }
        long nanos = sent.prefillNanos();
        if (nanos > 0) {
            later(nanos);
        } else {
            prefilled.run();
        }
    }

    /**
     * The worker is done with it.
     *
     * @param answered it has given an answer, and so has computed the prompt
     */
    void stop(boolean answered) {
        scope.context.owner().cancelTimer(timer);
        if (answered && canShow && !told) {
            signs().told(decision, signs().isShown(scope.request(), decision, scope.prompt));
        }
    }
}
