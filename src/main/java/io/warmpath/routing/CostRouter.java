package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Sends a request where prefill and decode together cost least. Any thread. */
public final class CostRouter implements Router {
    private final Scorer scorer;
    private final Picker picker;

    public CostRouter(
            RouterOptions options, LoadBook loads, Supplier<? extends RandomGenerator> random) {
        this.scorer = new Scorer(options, loads);
        this.picker = new Picker(options.temperature(), random);
    }

    @Override
    public RoutingDecision decide(RoutingRequest request) {
        List<Candidate> candidates = Pins.narrow(request);
        List<Score> scores = scorer.scoreAll(candidates, request);
        Picker.Pick pick = picker.pick(scores);
        return new RoutingDecision(
                mode(),
                pick.score(),
                scores,
                Scorer.blocks(pick.score().candidate(), request.promptTokens()),
                Pins.reason(request, candidates.size(), pick.why()));
    }

    @Override
    public RouterMode mode() {
        return RouterMode.KV;
    }
}
