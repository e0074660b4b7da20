package io.warmpath.gateway;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.routing.Ineligible;
import io.warmpath.routing.Router;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Sent;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Tokens to decision: asks who holds how much, then the router. Any thread; microseconds. */
final class Planner {
    private static final Logger LOG = Logger.getLogger(Planner.class);

    private final Fleet fleet;
    private final Overlaps overlaps;
    private final Router router;
    private final FlowMetrics metrics;
    private final Dependency indexHealth =
            new Dependency(LOG, "The prefix index", "requests are routed by load alone");

    Planner(Fleet fleet, Overlaps overlaps, Router router, FlowMetrics metrics) {
        this.fleet = fleet;
        this.overlaps = overlaps;
        this.router = router;
        this.metrics = metrics;
    }

    /**
     * The ranks this request may go to: the healthy ones, or, when there are none, the unhealthy
     * ones, because one of them may just have come back.
     *
     * @param without workers that have failed this request already
     */
    static List<Candidate> candidates(FleetSnapshot fleet, String model, List<Long> without) {
        List<Candidate> healthy = others(fleet.candidates(model), without);
        return healthy.isEmpty() ? others(fleet.lastResort(model), without) : healthy;
    }

    /**
     * @param candidates not empty
     * @param tokens the prompt, or null when it is not known
     */
    RoutingDecision decide(
            InferenceRequest request, List<Candidate> candidates, int @Nullable [] tokens) {
        RoutingDecision decision =
                ask(
                        request,
                        candidates,
                        tokens,
                        request.explain()
                                ? RoutingRequest.Detail.ALL
                                : RoutingRequest.Detail.CHOSEN,
                        request.explain()
                                ? ineligible(request.model(), candidates, "failed this request")
                                : List.of());
        metrics.decided(decision.mode());
        return decision;
    }

    /**
     * What would be decided now; leaves no trace.
     *
     * @param others why a ready worker is not among the candidates
     */
    RoutingDecision dryRun(
            InferenceRequest request,
            List<Candidate> candidates,
            int @Nullable [] tokens,
            String others) {
        return ask(
                request,
                candidates,
                tokens,
                RoutingRequest.Detail.DRY_RUN,
                ineligible(request.model(), candidates, others));
    }

    private RoutingDecision ask(
            InferenceRequest request,
            List<Candidate> candidates,
            int @Nullable [] tokens,
            RoutingRequest.Detail detail,
            List<Ineligible> ineligible) {
        return router.forModel(request.model())
                .decide(
                        new RoutingRequest(
                                candidates,
                                tokens == null ? 0 : tokens.length,
                                tokens == null ? List.of() : matches(request, candidates, tokens),
                                request.pinnedWorker(),
                                request.pinnedRank(),
                                request.overrides(),
                                null,
                                request.admission().outputTokens().orElse(0),
                                detail,
                                ineligible));
    }

    /** The request was booked where the decision says. Nothing when its tokens are not known. */
    void booked(InferenceRequest request, RoutingDecision decision, int @Nullable [] tokens) {
        if (tokens == null) {
            return;
        }
        try {
            overlaps.booked(
                    request.model(),
                    space(request.cacheSalt()),
                    decision.chosen().candidate(),
                    tokens);
        } catch (RuntimeException e) {
            metrics.indexFailed();
            indexHealth.failed(e);
        }
    }

    /** The workers of the fleet as it is now that are not among the candidates, and why. */
    private List<Ineligible> ineligible(String model, List<Candidate> candidates, String others) {
        List<Ineligible> out = new ArrayList<>();
        for (Worker w : fleet.snapshot().workers()) {
            boolean among = false;
            for (Candidate c : candidates) {
                among |= c.worker().id() == w.id();
            }
            if (!among) {
                String why =
                        !w.models().contains(model)
                                ? "does not serve the model"
                                : w.available()
                                        ? others
                                        : w.state().name().toLowerCase(Locale.ROOT);
                out.add(new Ineligible(w.name(), why));
            }
        }
        return out;
    }

    /** The decision is acted on now. */
    Sent sent(RoutingDecision decision, boolean streamed) {
        return router.sent(decision, streamed);
    }

    private List<PrefixMatch> matches(
            InferenceRequest request, List<Candidate> candidates, int[] tokens) {
        try {
            List<PrefixMatch> matches =
                    overlaps.matches(
                            request.model(), space(request.cacheSalt()), candidates, tokens);
            indexHealth.worked();
            return matches;
        } catch (RuntimeException e) {
            metrics.indexFailed();
            indexHealth.failed(e);
            return List.of();
        }
    }

    private static PrefixSpace space(String salt) {
        return salt.isEmpty() ? PrefixSpace.NONE : new PrefixSpace("", salt);
    }

    private static List<Candidate> others(List<Candidate> all, List<Long> without) {
        if (without.isEmpty()) {
            return all;
        }
        List<Candidate> others = new ArrayList<>(all.size());
        for (Candidate c : all) {
            if (!without.contains(c.worker().id())) {
                others.add(c);
            }
        }
        return others;
    }
}
