package io.warmpath.routing.modes;

import io.warmpath.fleet.Candidate;
import io.warmpath.routing.Choice;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Scorer;
import io.warmpath.routing.Scores;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Sends a request where it costs least. Any thread. */
final class CostRouter implements Router {
    private final RouterMode mode;
    private final Scorer scorer;
    private final Picker picker;
    private final LastServed lastServed = new LastServed();

    CostRouter(RouterMode mode, Scorer scorer, Supplier<? extends RandomGenerator> random) {
        this.mode = mode;
        this.scorer = scorer;
        this.picker = new Picker(random, lastServed);
    }

    @Override
    public RoutingDecision decide(RoutingRequest request) {
        List<Candidate> candidates = scorer.eligible(request);
        RouterOptions effective = scorer.effective(request);
        Scores scores = scorer.scoreAll(candidates, request, effective);
        Choice choice = picker.pick(scores, candidates, request, effective.temperature());
        if (request.detail() != RoutingRequest.Detail.DRY_RUN) {
            lastServed.remember(request, candidates.get(choice.index()));
            picker.taken(candidates.get(choice.index()));
        }
        return scorer.decision(request, candidates, effective, choice, scores);
    }

    @Override
    public RouterMode mode() {
        return mode;
    }
}
