package io.warmpath.routing.modes;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.Part;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Scorer;
import io.warmpath.routing.rates.FleetPressure;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.routing.rates.Sent;
import io.warmpath.routing.rates.WorkerRates;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/** Another router, and what the answers to its requests tell of the workers' speeds. Any thread. */
final class LearningRouter implements Router {
    private final Router router;
    private final WorkerRates rates;
    private final Scorer scorer;
    private final LatencyPriors priors;
    private final LoadBook loads;
    private final ComputedBlocks computed = new ComputedBlocks();

    /** {@code rates}: those that the router shows or decides by. */
    LearningRouter(Router router, RouterOptions options, LoadBook loads, WorkerRates rates) {
        this.router = router;
        this.rates = rates;
        this.priors = options.latency();
        this.loads = loads;
        this.scorer = new Scorer(options, loads, rates);
    }

    @Override
    public RoutingDecision decide(RoutingRequest request) {
        return router.decide(request);
    }

    @Override
    public Sent sent(RoutingDecision decision, boolean streamed) {
        // Who decodes has the first token from elsewhere: its time tells nothing of this worker.
        boolean computes = decision.request().part() != Part.DECODE;
        if (computes) {
            computed.sent(decision, rates);
        }
        WorkerRates.Shows shows =
                !computes
                        ? WorkerRates.Shows.NOTHING
                        : streamed ? WorkerRates.Shows.FIRST_TOKEN : WorkerRates.Shows.END;
        return rates.sent(decision.chosen().candidate().slot(), scorer.work(decision), shows);
    }

    @Override
    public Sent sentByPeer(
            WorkerSlot slot,
            int prefillTokens,
            int promptTokens,
            int expectedOutput,
            boolean prefilled) {
        return rates.sentByPeer(slot, prefillTokens, promptTokens, expectedOutput, prefilled);
    }

    @Override
    public void waiting(WorkerSlot slot, int requests) {
        rates.waiting(slot, requests);
    }

    @Override
    public void among(int place, int gateways) {
        rates.among(place, gateways);
    }

    @Override
    public Optional<FleetPressure> pressure(List<Candidate> candidates) {
        return Optional.of(FleetPressure.of(candidates, rates, priors, loads));
    }

    @Override
    public double prefillFactor(WorkerSlot slot) {
        return rates.prefillFactor(slot);
    }

    @Override
    public OptionalDouble evicted(List<Candidate> candidates) {
        return OptionalDouble.of(rates.fleet(candidates, rates.now()).evicted());
    }

    @Override
    public Router forModel(String model) {
        Router own = router.forModel(model);
        return own == router ? this : own;
    }

    @Override
    public RouterMode mode() {
        return router.mode();
    }
}
