package io.warmpath.routing.modes;

import io.warmpath.load.LoadBook;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Scorer;
import io.warmpath.routing.rates.Sent;
import io.warmpath.routing.rates.WorkerRates;

/** Another router, and what the answers to its requests tell of the workers' speeds. Any thread. */
final class LearningRouter implements Router {
    private final Router router;
    private final WorkerRates rates;
    private final Scorer scorer;

    /**
     * @param rates those that the router shows or decides by
     */
    LearningRouter(Router router, RouterOptions options, LoadBook loads, WorkerRates rates) {
        this.router = router;
        this.rates = rates;
        this.scorer = new Scorer(options, loads, rates);
    }

    @Override
    public RoutingDecision decide(RoutingRequest request) {
        return router.decide(request);
    }

    @Override
    public Sent sent(RoutingDecision decision, boolean streamed) {
        return rates.sent(decision.chosen().candidate().slot(), scorer.work(decision), streamed);
    }

    @Override
    public Sent sentByPeer(
            WorkerSlot slot, int prefillTokens, int promptTokens, boolean prefilled) {
        return rates.sentByPeer(slot, prefillTokens, promptTokens, prefilled);
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
