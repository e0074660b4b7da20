package io.warmpath.gateway;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.load.LoadBook;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.routing.Eligibility;
import io.warmpath.routing.Ineligible;
import io.warmpath.routing.Router;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Sent;
import io.warmpath.routing.TaintMatch;
import io.warmpath.routing.TaintRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Tokens to decision: asks who holds how much, then the router. Any thread; microseconds. */
final class Planner {
    private static final Logger LOG = Logger.getLogger(Planner.class);

    private final Fleet fleet;
    private final Overlaps overlaps;
    private final Router router;
    private final LoadBook load;
    private final FlowMetrics metrics;
    private final DecisionLog log;
    private final Map<String, List<TaintMatch>> classTolerations;
    private final Dependency indexHealth =
            new Dependency(LOG, "The prefix index", "requests are routed by load alone");

    Planner(
            Fleet fleet,
            Overlaps overlaps,
            Router router,
            LoadBook load,
            FlowMetrics metrics,
            DecisionLog log,
            Map<String, List<TaintMatch>> classTolerations) {
        this.classTolerations = classTolerations;
        this.log = log;
        this.fleet = fleet;
        this.overlaps = overlaps;
        this.router = router;
        this.load = load;
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
     * @param known what the index answered already; null: it is asked
     * @param named its blocks by name, one entry per block size met so far; added to
     */
    RoutingDecision decide(
            InferenceRequest request,
            List<Candidate> candidates,
            int @Nullable [] tokens,
            List<PromptBlocks> named,
            @Nullable List<PrefixMatch> known) {
        RoutingDecision decision =
                ask(
                        request,
                        candidates,
                        tokens,
                        named,
                        known,
                        request.explain() || log.isOn()
                                ? RoutingRequest.Detail.ALL
                                : RoutingRequest.Detail.CHOSEN,
                        request.explain()
                                ? ineligible(request.model(), candidates, "failed this request")
                                : List.of());
        metrics.decided(decision.mode());
        log.add(request, decision);
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
                new ArrayList<>(1),
                null,
                RoutingRequest.Detail.DRY_RUN,
                ineligible(request.model(), candidates, others));
    }

    private RoutingDecision ask(
            InferenceRequest request,
            List<Candidate> candidates,
            int @Nullable [] tokens,
            List<PromptBlocks> named,
            @Nullable List<PrefixMatch> known,
            RoutingRequest.Detail detail,
            List<Ineligible> ineligible) {
        if (tokens != null) {
            name(request, candidates, tokens, named);
        }
        return router.forModel(request.model())
                .decide(
                        new RoutingRequest(
                                candidates,
                                tokens == null ? 0 : tokens.length,
                                known != null ? known : matches(request, candidates, tokens),
                                named,
                                request.pinnedWorker(),
                                request.pinnedRank(),
                                taints(request),
                                request.overrides(),
                                null,
                                request.hints().expectedOutput(),
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

    private void name(
            InferenceRequest request,
            List<Candidate> candidates,
            int[] tokens,
            List<PromptBlocks> named) {
        for (int i = 0; i < candidates.size(); i++) {
            int blockSize = candidates.get(i).worker().blockSize();
            if (blockSize > 0 && find(named, blockSize) == null) {
                PromptBlocks blocks =
                        load.name(request.model(), request.cacheSalt(), tokens, blockSize);
                Boolean reuse = request.overrides().assumeKvReuse();
                named.add(reuse == null ? blocks : blocks.shared(reuse));
            }
        }
    }

    /**
     * The prompt as it is booked on this worker.
     *
     * @param named as filled by {@link #decide}
     */
    static PromptBlocks blocksOn(Worker worker, int @Nullable [] tokens, List<PromptBlocks> named) {
        PromptBlocks known = find(named, worker.blockSize());
        return known != null
                ? known
                : PromptBlocks.unnamed(worker.blockSize(), tokens == null ? 1 : tokens.length);
    }

    private static @Nullable PromptBlocks find(List<PromptBlocks> named, int blockSize) {
        for (int i = 0; i < named.size(); i++) {
            if (named.get(i).blockSize() == blockSize) {
                return named.get(i);
            }
        }
        return null;
    }

    /** The candidates that the client's pins and the workers' taints leave, maybe none. */
    List<Candidate> eligible(InferenceRequest request, List<Candidate> candidates) {
        return Eligibility.left(
                candidates, request.pinnedWorker(), request.pinnedRank(), taints(request));
    }

    private TaintRules taints(InferenceRequest request) {
        return request.taints()
                .tolerating(
                        classTolerations.getOrDefault(request.hints().policyClass(), List.of()));
    }

    /** Prompt tokens that the candidate which holds most need not compute. */
    static int mostCached(List<PrefixMatch> matches, List<Candidate> candidates, int tokens) {
        int most = 0;
        for (int m = 0; m < matches.size(); m++) {
            PrefixMatch match = matches.get(m);
            for (int i = 0; i < candidates.size(); i++) {
                Candidate c = candidates.get(i);
                if (c.worker().blockSize() == match.blockSize()) {
                    most = Math.max(most, match.depth(c.slot(), Tier.DISK) * match.blockSize());
                }
            }
        }
        return Math.min(most, Math.max(0, tokens - 1));
    }

    List<PrefixMatch> matches(
            InferenceRequest request, List<Candidate> candidates, int @Nullable [] tokens) {
        if (tokens == null) {
            return List.of();
        }
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
