package io.warmpath.gateway.flow;

import io.vertx.core.Vertx;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.rates.Sent;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds out when the prompt of an answer in one piece is computed: the answer's first byte comes
 * with its last, when its worker has had room for another prompt for long. By the time that the
 * router says, and sooner where the engine's events show the prompt's blocks. On the request's
 * event loop.
 */
final class UnseenPrefill {
    /** Looks within the time that it should take. */
    private static final int LOOKS = 4;

    private static final long LEAST_NANOS = 2_000_000;

    private final RequestScope scope;
    private final RoutingDecision decision;
    private final Sent sent;
    private final Runnable prefilled;
    private final long pauseNanos;
    private long timer;

    private UnseenPrefill(
            RequestScope scope,
            RoutingDecision decision,
            Sent sent,
            Runnable prefilled,
            long pauseNanos) {
        this.scope = scope;
        this.decision = decision;
        this.sent = sent;
        this.prefilled = prefilled;
        this.pauseNanos = pauseNanos;
    }

    /**
     * @param prefilled is called once, unless {@link #stop} is called before
     * @return null: there is nothing to find out; its first token will tell, or its end
     */
    static @Nullable UnseenPrefill watch(
            RequestScope scope, RoutingDecision decision, Sent sent, Runnable prefilled) {
        if (scope.request().stream()
                || scope.request().form().decodes() == 0
                || decision.chosen().prefillTokens() == 0) {
            return null;
        }
        long nanos = sent.prefillNanos();
        if (nanos == Sent.NOT_KNOWN) {
            return null;
        }
        UnseenPrefill made =
                new UnseenPrefill(
                        scope, decision, sent, prefilled, Math.max(LEAST_NANOS, nanos / LOOKS));
        made.later(nanos);
        return made;
    }

    private void later(long nanos) {
        Vertx vertx = scope.context.owner();
        long millis = TimeUnit.NANOSECONDS.toMillis(Math.min(nanos, pauseNanos) + 999_999);
        timer = vertx.setTimer(Math.max(1, millis), t -> look());
    }

    private void look() {
        if (scope.parts.planning().planner().isComputed(scope.request(), decision, scope.prompt)) {
            sent.prefilled();
        }
        long nanos = sent.prefillNanos();
        if (nanos > 0) {
            later(nanos);
        } else {
            prefilled.run();
        }
    }

    /** Harmless when it is over. */
    void stop() {
        scope.context.owner().cancelTimer(timer);
    }
}
