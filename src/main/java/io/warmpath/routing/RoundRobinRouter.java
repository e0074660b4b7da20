package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import java.util.Arrays;
import java.util.List;

/**
 * The candidate whose last turn lies furthest back.
 *
 * <p>Any thread; a short critical section per decision. With one model and a constant fleet this is
 * the plain cycle; it stays even when several models share workers, when workers come and go, and
 * when a retry leaves one out, where a common counter would skip.
 */
public final class RoundRobinRouter implements Router {
    private final Scorer scorer;

    /** Number of the last turn by slot, 0 = none yet; guarded by this. */
    private long[] lastTurns = new long[64];

    /** Guarded by this. */
    private long turn;

    public RoundRobinRouter(RouterOptions options, LoadBook loads) {
        this.scorer = new Scorer(options, loads);
    }

    @Override
    public RoutingDecision decide(RoutingRequest request) {
        List<Candidate> candidates = Pins.narrow(request);
        Candidate chosen = next(candidates);
        Score score = scorer.score(chosen, request);
        return new RoutingDecision(
                mode(),
                score,
                List.of(score),
                Scorer.blocks(chosen, request.promptTokens()),
                Pins.reason(request, candidates.size(), "next in turn of " + candidates.size()));
    }

    private synchronized Candidate next(List<Candidate> candidates) {
        Candidate chosen = candidates.getFirst();
        for (Candidate c : candidates) {
            if (lastTurn(c) < lastTurn(chosen)) {
                chosen = c;
            }
        }
        lastTurns[chosen.slot().index()] = ++turn;
        return chosen;
    }

    private long lastTurn(Candidate candidate) {
        int slot = candidate.slot().index();
        if (slot >= lastTurns.length) {
            lastTurns = Arrays.copyOf(lastTurns, Math.max(slot + 1, 2 * lastTurns.length));
        }
        return lastTurns[slot];
    }

    @Override
    public RouterMode mode() {
        return RouterMode.ROUND_ROBIN;
    }
}
