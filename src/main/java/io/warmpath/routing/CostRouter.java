package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Sends a request where it costs least. Any thread. */
public final class CostRouter implements Router {
    private final RouterOptions options;
    private final Scorer scorer;
    private final Picker picker;
    private final LastServed lastServed = new LastServed();
    private final @Nullable WorkerRates rates;

    /**
     * @param nanoTime as {@link System#nanoTime}
     */
    public CostRouter(
            RouterOptions options,
            LoadBook loads,
            Supplier<? extends RandomGenerator> random,
            LongSupplier nanoTime) {
        this.options = options;
        this.picker = new Picker(random, lastServed);
        if (options.cost() == CostKind.LATENCY) {
            rates = new WorkerRates(options.latency(), nanoTime);
            scorer = new Scorer(options, loads, new LatencyCost(options.latency(), rates));
        } else {
            rates = null;
            scorer = new Scorer(options, loads, new BlockCost());
        }
    }

    @Override
    public RoutingDecision decide(RoutingRequest request) {
        List<Candidate> candidates = Pins.narrow(request);
        RouterOptions effective = scorer.effective(request);
        Scores scores = scorer.scoreAll(candidates, request, effective.weights());
        Choice choice = picker.pick(scores, candidates, request, effective.temperature());
        if (request.detail() != RoutingRequest.Detail.DRY_RUN) {
            lastServed.remember(request, candidates.get(choice.index()));
        }
        return scorer.decision(request, candidates, effective, choice, scores);
    }

    @Override
    public Sent sent(RoutingDecision decision, boolean streamed) {
        return rates == null
                ? Sent.UNSEEN
                : rates.sent(decision.chosen().candidate().slot(), scorer.work(decision), streamed);
    }

    @Override
    public RouterMode mode() {
        return options.mode();
    }
}
