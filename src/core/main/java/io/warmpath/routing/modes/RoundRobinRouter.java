package io.warmpath.routing.modes;

import io.warmpath.fleet.Candidate;
import io.warmpath.routing.Choice;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Scorer;
import java.util.List;

/**
 * The candidate whose last turn lies furthest back. Any thread; a short critical section per
 * decision. With one model and a constant fleet this is the plain cycle; it stays even when several
 * models share workers, when workers come and go, and when a retry leaves one out, where a common
 * counter would skip. Where weights differ, turns are given by {@link Strides}.
 */
final class RoundRobinRouter implements Router {
    private final Scorer scorer;

    /** Changed under this monitor only, so that two decisions never take the same turn. */
    private final LastTurns lastTurns = new LastTurns();

    /** Guarded by this. */
    private final Strides strides = new Strides();

    RoundRobinRouter(Scorer scorer) {
        this.scorer = scorer;
    }

    @Override
    public RoutingDecision decide(RoutingRequest request) {
        List<Candidate> candidates = scorer.eligible(request);
        int count = candidates.size();
        boolean forReal = request.detail() != RoutingRequest.Detail.DRY_RUN;
        Choice choice =
                new Choice(
                        Choice.Kind.NEXT_IN_TURN,
                        scorer.weighted(request)
                                ? nextByWeight(candidates, forReal)
                                : next(candidates, forReal),
                        count,
                        0,
                        0,
                        0,
                        Double.NaN,
                        0);
        return scorer.decision(request, candidates, scorer.effective(request), choice, null);
    }

    private synchronized int nextByWeight(List<Candidate> candidates, boolean forReal) {
        int chosen = strides.next(candidates);
        if (forReal) {
            strides.taken(candidates, chosen);
        }
        return chosen;
    }

    private synchronized int next(List<Candidate> candidates, boolean forReal) {
        int chosen = 0;
        for (int i = 1; i < candidates.size(); i++) {
            if (lastTurns.of(candidates.get(i)) < lastTurns.of(candidates.get(chosen))) {
                chosen = i;
            }
        }
        if (forReal) {
            lastTurns.taken(candidates.get(chosen));
        }
        return chosen;
    }

    @Override
    public RouterMode mode() {
        return RouterMode.ROUND_ROBIN;
    }
}
