package io.warmpath.routing.modes;

import io.warmpath.fleet.Candidate;
import io.warmpath.routing.Choice;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Scorer;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Any candidate, each with the chance that its weight gives it. Any thread. */
final class RandomRouter implements Router {
    private final Scorer scorer;
    private final Supplier<? extends RandomGenerator> random;

    RandomRouter(Scorer scorer, Supplier<? extends RandomGenerator> random) {
        this.scorer = scorer;
        this.random = random;
    }

    @Override
    public RoutingDecision decide(RoutingRequest request) {
        List<Candidate> candidates = scorer.eligible(request);
        int count = candidates.size();
        double drawn = random.get().nextDouble();
        int chosen =
                scorer.weighted(request)
                        ? WeightedDraw.draw(candidates, drawn)
                        : (int) (drawn * count);
        Choice choice = new Choice(Choice.Kind.RANDOM, chosen, count, 0, 0, 0, drawn, 0);
        return scorer.decision(request, candidates, scorer.effective(request), choice, null);
    }

    @Override
    public RouterMode mode() {
        return RouterMode.RANDOM;
    }
}
