package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Any candidate, each with the same chance. Any thread. */
public final class RandomRouter implements Router {
    private final Scorer scorer;
    private final Supplier<? extends RandomGenerator> random;

    public RandomRouter(
            RouterOptions options, LoadBook loads, Supplier<? extends RandomGenerator> random) {
        this.scorer = new Scorer(options, loads);
        this.random = random;
    }

    @Override
    public RoutingDecision decide(RoutingRequest request) {
        List<Candidate> candidates = Pins.narrow(request);
        Candidate chosen = candidates.get(random.get().nextInt(candidates.size()));
        Score score = scorer.score(chosen, request);
        return new RoutingDecision(
                mode(),
                score,
                List.of(score),
                Scorer.blocks(chosen, request.promptTokens()),
                Pins.reason(request, candidates.size(), "random one of " + candidates.size()));
    }

    @Override
    public RouterMode mode() {
        return RouterMode.RANDOM;
    }
}
