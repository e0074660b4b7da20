package io.warmpath.telemetry;

import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.observe.DecisionLog.Ending;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.Refusal;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.telemetry.UsageTracing.Tried;
import io.warmpath.telemetry.UsageTracing.Usage;
import io.warmpath.usage.FleetHistory;
import io.warmpath.usage.RequestUse;
import io.warmpath.usage.RequestUse.End;
import io.warmpath.usage.UsageBook;
import io.warmpath.usage.WorkerTry;
import java.util.function.Predicate;

/**
 * Enters what requests have used into the books of tenants and of workers. On event loops.
 *
 * @param served whether a worker serves this model, so that clients cannot make up new ones
 */
public record UsageFeed(
        UsageBook book, FleetHistory history, Predicate<String> served, PrefillTime prefill)
        implements UsageTracing.Sink {
    /** The client has left, which says nothing of the worker. */
    private static final String LEFT = "left";

    /** How long a rank takes to compute the first tokens of a prompt. */
    @FunctionalInterface
    public interface PrefillTime {
        /** Returns milliseconds. */
        double of(Candidate rank, long tokens);
    }

    @Override
    public void tried(Tried tried) {
        Ending e = tried.ending();
        boolean broken = !tried.problem().isEmpty() && !tried.problem().equals(LEFT);
        history.tried(
                tried.worker(),
                new WorkerTry(
                        broken || e.status() >= 500,
                        e.firstTokenNanos(),
                        e.promptTokens(),
                        e.cachedTokens(),
                        tried.predicted()));
    }

    @Override
    public void used(Usage u) {
        End end = end(u.outcome());
        history.ended(
                new WorkerTry(
                        end == End.ERROR,
                        u.firstTokenNanos(),
                        u.promptTokens(),
                        u.cachedTokens(),
                        -1));
        RoutingDecision to = u.decision();
        if (to == null || u.firstTokenNanos() < 0) {
            String model = to != null || served.test(u.model()) ? u.model() : "";
            book.count(new RequestUse(u.tenant(), model, end, 0, 0, 0, 0, 0));
            return;
        }
        boolean reported = u.cachedTokens() >= 0;
        long cached = reported ? u.cachedTokens() : to.chosen().cachedTokens();
        book.count(
                new RequestUse(
                        u.tenant(),
                        u.model(),
                        end,
                        Math.max(0, u.promptTokens()),
                        cached,
                        reported ? 0 : cached,
                        Math.max(0, u.outputTokens()),
                        cached == 0 ? 0 : prefill.of(to.chosen().candidate(), cached)));
    }

    /** Which model was meant has not been looked at. */
    @Override
    public void refused(Refusal refusal) {
        book.count(RequestUse.refused(refusal.tenant(), ""));
    }

    private static End end(Outcome outcome) {
        return switch (outcome) {
            case OK -> End.OK;
            case REJECTED, OVERLOADED -> End.REFUSED;
            case CANCELLED -> End.LEFT;
            case ENGINE_ERROR, NO_WORKER, UPSTREAM_FAILED, BROKEN_MID_ANSWER, TIMED_OUT, INTERNAL ->
                    End.ERROR;
        };
    }
}
