package io.warmpath.gateway.plan;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.DecisionCause;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.Dependency;
import io.warmpath.gateway.observe.DisaggMeters;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.observe.Occasion;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.pin.Pins;
import io.warmpath.gateway.prompt.AskedPrompt;
import io.warmpath.gateway.prompt.EnginePrompts;
import io.warmpath.gateway.prompt.HotPrompts;
import io.warmpath.gateway.prompt.Overlaps;
import io.warmpath.gateway.prompt.PromptContent;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.load.ActiveAdapters;
import io.warmpath.load.LoadBook;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.routing.AdapterView;
import io.warmpath.routing.Circumstances;
import io.warmpath.routing.Eligibility;
import io.warmpath.routing.Ineligible;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.Part;
import io.warmpath.routing.PromptKnown;
import io.warmpath.routing.Router;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Splitting;
import io.warmpath.routing.TaintMatch;
import io.warmpath.routing.TaintRules;
import io.warmpath.routing.TransferCost;
import io.warmpath.routing.rates.Sent;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Tokens to decision: asks who holds how much, then the router. Any thread; microseconds. */
public final class Planner {
    private static final Logger LOG = Logger.getLogger(Planner.class);

    private final Fleet fleet;
    private final Overlaps overlaps;
    private final Router router;
    private final LoadBook load;
    private final FlowMetrics metrics;
    private final DecisionLog log;
    private final Map<String, List<TaintMatch>> classTolerations;
    private final EventWatch events;
    private final SelfCheck selfCheck;
    private final Pins pins;
    private final @Nullable SharedCache shared;
    private final LongSupplier nanoTime;
    private final @Nullable HotPrompts hot;
    private final Splitting splitting;
    private final Expectation expectation;
    private final ComputedPrompts computed;
    private final ActiveAdapters adapters;
    private final Dependency indexHealth =
            new Dependency(LOG, "The prefix index", "requests are routed by load alone");

    public Planner(
            Fleet fleet,
            Overlaps overlaps,
            Router router,
            LoadBook load,
            FlowMetrics metrics,
            DecisionLog log,
            Map<String, List<TaintMatch>> classTolerations,
            EventWatch events,
            SelfCheck selfCheck,
            Pins pins,
            @Nullable SharedCache shared,
            LongSupplier nanoTime,
            @Nullable HotPrompts hot,
            Splitting splitting,
            ActiveAdapters adapters) {
        this.hot = hot;
        this.adapters = adapters;
        this.splitting = splitting;
        this.pins = pins;
        this.shared = shared;
        this.nanoTime = nanoTime;
        this.events = events;
        this.selfCheck = selfCheck;
        this.classTolerations = classTolerations;
        this.log = log;
        this.fleet = fleet;
        this.overlaps = overlaps;
        this.router = router;
        this.load = load;
        this.metrics = metrics;
        this.computed = new ComputedPrompts(overlaps, events);
        this.expectation =
                new Expectation(this::matches, events, overlaps != Overlaps.NONE, shared != null);
    }

    /**
     * @param noted in the log of decisions; null: it is not
     * @param prefill who computes the prompt for the chosen one; null: it does so itself
     */
    public record Decided(
            RoutingDecision decision,
            DecisionLog.@Nullable Noted noted,
            @Nullable Decided prefill) {
        /** The decision that says what of the prompt was cached where it is computed. */
        public RoutingDecision computing() {
            return prefill == null ? decision : prefill.decision;
        }

        /** The same, where the engine will report something else than was predicted. */
        public Decided notExact(NotExact why) {
            return new Decided(
                    decision.predicting(decision.chosen().cachedTokens(), why),
                    noted,
                    prefill == null ? null : prefill.notExact(why));
        }
    }

    /**
     * The ranks this request may go to: the healthy ones as far as they are open to it, or, when
     * there are none, the unhealthy ones, because one of them may just have come back.
     *
     * @param without workers that have failed this request already
     * @param draw see {@link Fleet#open}
     */
    public static List<Candidate> candidates(
            Fleet fleet, String model, List<Long> without, double draw) {
        List<Candidate> open = others(fleet.open(model, draw), without);
        return open.isEmpty() ? anybody(fleet.snapshot(), model, without) : open;
    }

    /** As {@link #candidates}, without limits: for a request that names its worker. */
    public static List<Candidate> anybody(FleetSnapshot fleet, String model, List<Long> without) {
        List<Candidate> healthy = others(fleet.candidates(model), without);
        return healthy.isEmpty() ? others(fleet.lastResort(model), without) : healthy;
    }

    /** Who prefills for others does whole requests of this model, too, where that costs least. */
    public boolean wholeByCost(String model) {
        return splitting.byCost() && router.forModel(model).mode().comparesCosts();
    }

    /**
     * @param occasion for the log of decisions
     * @param candidates not empty
     * @param prefills who can compute the prompt for those of them that only decode
     * @param prompt what is known of it; its blocks get names
     * @param known what the index answered already; null: it is asked
     * @param queuedNanos how long it has waited
     * @param others why a ready worker or rank is not among the candidates
     * @param trace gets how long it took; null: the request is not traced
     */
    public Decided decide(
            InferenceRequest request,
            Occasion occasion,
            List<Candidate> candidates,
            List<Candidate> prefills,
            AskedPrompt prompt,
            @Nullable List<PrefixMatch> known,
            long queuedNanos,
            Function<Worker, String> others,
            Tracing.@Nullable Trace trace) {
        if (prefills.isEmpty()) { // nearly always
            return decide(
                    request,
                    occasion,
                    candidates,
                    request.form().part(),
                    TransferCost.NONE,
                    prompt,
                    known,
                    queuedNanos,
                    others,
                    trace,
                    null);
        }
        EnginePrompts tokens = prompt.tokens();
        // Once for all that can do a part of it.
        Set<Candidate> all = new LinkedHashSet<>(candidates);
        all.addAll(prefills);
        List<PrefixMatch> held = matches(request, List.copyOf(all), tokens);
        Splitting rule = request.routing().prefiller().isAny() ? splitting : splitting.always();
        Splitting.Plan plan =
                rule.plan(
                        (among, part, transfer) ->
                                dryRun(
                                        part == Part.PREFILL ? request.unpinned() : request,
                                        among,
                                        held,
                                        part,
                                        transfer,
                                        prompt,
                                        others),
                        candidates,
                        prefills,
                        tokens == null ? 0 : tokens.length());
        metrics.disagg()
                .decided(
                        plan.part() == Part.WHOLE
                                ? DisaggMeters.Plan.WHOLE
                                : DisaggMeters.Plan.SPLIT);
        Decided prefill =
                plan.part() == Part.WHOLE
                        ? null
                        : decide(
                                request.unpinned(),
                                occasion.because(DecisionCause.PREFILL),
                                plan.prefills(),
                                Part.PREFILL,
                                TransferCost.NONE,
                                prompt,
                                held,
                                queuedNanos,
                                others,
                                trace,
                                null);
        Decided decided =
                decide(
                        request,
                        occasion,
                        plan.candidates(),
                        plan.part(),
                        plan.transferFrom(prefill == null ? null : prefill.decision),
                        prompt,
                        held,
                        queuedNanos,
                        others,
                        trace,
                        prefill);
        if (prefill != null) {
            splitting.sent(decided.decision);
        }
        return decided;
    }

    private Decided decide(
            InferenceRequest request,
            Occasion occasion,
            List<Candidate> candidates,
            Part part,
            TransferCost transfer,
            AskedPrompt prompt,
            @Nullable List<PrefixMatch> known,
            long queuedNanos,
            Function<Worker, String> others,
            Tracing.@Nullable Trace trace,
            @Nullable Decided prefill) {
        DecisionLog.Wanted wanted = log.wanted(candidates.size());
        boolean inFull = request.form().explain() || wanted.terms();
        RoutingDecision decision =
                ask(
                        request,
                        candidates,
                        prompt,
                        prompt.named(),
                        known,
                        circumstances(
                                request,
                                prompt.tokens(),
                                queuedNanos,
                                inFull ? candidates : List.of()),
                        part,
                        transfer,
                        inFull ? RoutingRequest.Detail.ALL : RoutingRequest.Detail.CHOSEN,
                        request.form().explain()
                                ? ineligible(request.model(), candidates, others)
                                : List.of(),
                        trace);
        metrics.decided(decision.mode());
        if (shared != null) {
            shared.decided(decision);
        }
        return new Decided(decision, log.add(request, occasion, decision, wanted), prefill);
    }

    /**
     * What would be decided now; leaves no trace.
     *
     * @param others why a ready worker or rank is not among the candidates
     */
    RoutingDecision dryRun(
            InferenceRequest request,
            List<Candidate> candidates,
            AskedPrompt prompt,
            Function<Worker, String> others) {
        return dryRun(
                request,
                candidates,
                null,
                request.form().part(),
                TransferCost.NONE,
                prompt,
                others);
    }

    private RoutingDecision dryRun(
            InferenceRequest request,
            List<Candidate> candidates,
            @Nullable List<PrefixMatch> known,
            Part part,
            TransferCost transfer,
            AskedPrompt prompt,
            Function<Worker, String> others) {
        return ask(
                request,
                candidates,
                prompt,
                new ArrayList<>(1),
                known,
                circumstances(request, prompt.tokens(), 0, candidates),
                part,
                transfer,
                RoutingRequest.Detail.DRY_RUN,
                ineligible(request.model(), candidates, others),
                null);
    }

    private RoutingDecision ask(
            InferenceRequest request,
            List<Candidate> candidates,
            AskedPrompt prompt,
            List<PromptBlocks> named,
            @Nullable List<PrefixMatch> known,
            Circumstances circumstances,
            Part part,
            TransferCost transfer,
            RoutingRequest.Detail detail,
            List<Ineligible> ineligible,
            Tracing.@Nullable Trace trace) {
        EnginePrompts tokens = prompt.tokens();
        long asked = nanoTime.getAsLong();
        if (tokens != null && tokens.isOne() && !candidates.isEmpty()) {
            name(request, candidates, tokens.of(candidates.getFirst().worker().kind()), named);
        }
        List<PrefixMatch> held = known != null ? known : matches(request, candidates, tokens);
        long began = nanoTime.getAsLong();
        RoutingDecision decision =
                router.forModel(request.model())
                        .decide(
                                RoutingRequest.builder(
                                                candidates,
                                                tokens == null ? 0 : tokens.length(),
                                                held)
                                        .prompts(named)
                                        .pinnedWorker(request.routing().pinnedWorker())
                                        .pinnedRank(request.routing().pinnedRank())
                                        .taints(taints(request))
                                        .overrides(request.routing().overrides())
                                        .shared(tokens == null ? null : tokens.shared())
                                        .outputTokens(request.hints().expectedOutput())
                                        .mostOutputTokens(request.form().mostTokens())
                                        .part(part)
                                        .transfer(transfer)
                                        .detail(detail)
                                        .ineligible(ineligible)
                                        .circumstances(circumstances)
                                        .pins(pins.view(request, candidates, tokens))
                                        .adapter(adapterView(request, candidates))
                                        .build());
        long chosen = nanoTime.getAsLong();
        metrics.chosen(chosen - began);
        if (trace != null) {
            trace.step("match", asked, began);
            trace.step("decide", began, chosen);
        }
        return expectation.of(request, prompt, decision);
    }

    private @Nullable AdapterView adapterView(
            InferenceRequest request, List<Candidate> candidates) {
        return AdapterView.of(adapters, request.name().lora(), candidates);
    }

    private Circumstances circumstances(
            InferenceRequest request,
            @Nullable EnginePrompts tokens,
            long queuedNanos,
            List<Candidate> publishers) {
        Set<EngineKind> drifted = tokens == null ? Set.of() : drifted(request, tokens);
        PromptKnown known = tokens == null ? PromptKnown.TOKENS : tokens.known();
        return queuedNanos == 0
                        && publishers.isEmpty()
                        && drifted.isEmpty()
                        && known == PromptKnown.TOKENS
                ? Circumstances.NONE
                : new Circumstances(
                        queuedNanos, publishers.stream().map(events::of).toList(), drifted, known);
    }

    /**
     * Engines that have other ids of such prompts: what they say they hold is not found by ours.
     */
    private Set<EngineKind> drifted(InferenceRequest request, EnginePrompts prompt) {
        return overlaps.reportedByEngines() && !prompt.isGuess()
                ? selfCheck.distrusted(request.model(), request.prompt())
                : Set.of();
    }

    /** The request was booked where the decision says. Nothing when its tokens are not known. */
    public void booked(
            InferenceRequest request, RoutingDecision decision, @Nullable EnginePrompts tokens) {
        Candidate to = decision.chosen().candidate();
        if (tokens == null) {
            return;
        }
        for (EnginePrompts one : tokens.several()) {
            booked(request, decision, one);
        }
        PromptContent prompt = tokens.of(to.worker().kind());
        if (prompt.length() == 0 || tokens.isSeveral()) {
            return;
        }
        try {
            if (hot != null) {
                hot.booked(request, to, prompt);
            }
            overlaps.booked(request.model(), request.space(), to, prompt);
        } catch (RuntimeException e) {
            metrics.indexFailed();
            indexHealth.failed(e);
        }
    }

    /** Workers of the fleet as it is now, and ranks, that are not among the candidates, and why. */
    private List<Ineligible> ineligible(
            String model, List<Candidate> candidates, Function<Worker, String> others) {
        List<Ineligible> out = new ArrayList<>();
        for (Worker w : fleet.snapshot().workers()) {
            Set<Integer> among = new HashSet<>();
            for (Candidate c : candidates) {
                if (c.worker().id() == w.id()) {
                    among.add(c.dpRank());
                }
            }
            if (!among.isEmpty()) {
                for (Worker.Rank rank : w.ranks()) {
                    if (!among.contains(rank.dpRank())) {
                        out.add(new Ineligible(w.name() + "/" + rank.dpRank(), others.apply(w)));
                    }
                }
            } else {
                out.add(new Ineligible(w.name(), whyNot(w, model, others)));
            }
        }
        return out;
    }

    private String whyNot(Worker w, String model, Function<Worker, String> others) {
        if (w.disaggregation().role() == Role.ENCODE) {
            return "encodes media for others";
        }
        if (!w.models().contains(model)) {
            return "does not serve the model";
        }
        if (!w.available()) {
            return w.state().name().toLowerCase(Locale.ROOT);
        }
        String limited = fleet.whyNot(w);
        return limited.isEmpty() ? others.apply(w) : limited;
    }

    /**
     * What was decided has been done, well or not.
     *
     * @param problem why there is no whole answer; empty when there is
     */
    public void ended(Decided decided, String problem, DecisionLog.Ending ending) {
        log.ended(decided.noted(), problem, ending);
    }

    /** The adapters that have requests, for who sends some. */
    public ActiveAdapters adapters() {
        return adapters;
    }

    /** The decision is acted on now. */
    public Sent sent(RoutingDecision decision, boolean streamed) {
        return router.sent(decision, streamed);
    }

    /** What engines show of prompts before they answer. */
    public ComputedPrompts computed() {
        return computed;
    }

    private void name(
            InferenceRequest request,
            List<Candidate> candidates,
            PromptContent prompt,
            List<PromptBlocks> named) {
        for (int i = 0; i < candidates.size(); i++) {
            int blockSize = candidates.get(i).worker().blockSize();
            if (blockSize > 0 && AskedPrompt.find(named, blockSize) == null) {
                PromptBlocks blocks =
                        prompt.named(load, request.model(), request.salt().value(), blockSize);
                Boolean reuse = request.routing().overrides().assumeKvReuse();
                named.add(reuse == null ? blocks : blocks.shared(reuse));
            }
        }
    }

    /** The candidates that the client's pins and the workers' taints leave, maybe none. */
    public List<Candidate> eligible(InferenceRequest request, List<Candidate> candidates) {
        return Eligibility.left(
                candidates,
                request.routing().pinnedWorker(),
                request.routing().pinnedRank(),
                taints(request));
    }

    private TaintRules taints(InferenceRequest request) {
        return request.routing()
                .taints()
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
            InferenceRequest request, List<Candidate> candidates, @Nullable EnginePrompts tokens) {
        if (tokens == null) {
            return List.of();
        }
        if (tokens.isSeveral()) {
            return PrefixMatch.together(
                    tokens.several().stream()
                            .map(one -> matches(request, candidates, one))
                            .toList(),
                    tokens.several().stream().mapToInt(EnginePrompts::length).toArray());
        }
        long began = nanoTime.getAsLong();
        try {
            Set<EngineKind> drifted = drifted(request, tokens);
            List<PrefixMatch> matches =
                    tokens.isOne() && drifted.isEmpty()
                            ? overlaps.matches(
                                    request.model(),
                                    request.space(),
                                    candidates,
                                    tokens.of(EngineKind.OPENAI))
                            : matchesByKind(request, candidates, tokens, drifted);
            indexHealth.worked();
            metrics.matched(nanoTime.getAsLong() - began);
            return matches;
        } catch (RuntimeException e) {
            metrics.indexFailed();
            indexHealth.failed(e);
            return List.of();
        }
    }

    /**
     * Each kind of engine is asked about with its own ids, and answers for its own workers.
     *
     * @param without kinds that are not asked about
     */
    private List<PrefixMatch> matchesByKind(
            InferenceRequest request,
            List<Candidate> candidates,
            EnginePrompts tokens,
            Set<EngineKind> without) {
        List<PrefixMatch> all = new ArrayList<>(1);
        for (EngineKind kind : EngineKind.values()) {
            List<Candidate> own =
                    candidates.stream().filter(c -> c.worker().kind() == kind).toList();
            if (own.isEmpty() || tokens.of(kind).length() == 0 || without.contains(kind)) {
                continue;
            }
            Set<Integer> slots = new HashSet<>();
            own.forEach(c -> slots.add(c.slot().index()));
            for (PrefixMatch match :
                    overlaps.matches(request.model(), request.space(), own, tokens.of(kind))) {
                PrefixMatch mine = match.only(slots::contains);
                int same = indexOf(all, mine.blockSize());
                if (same < 0) {
                    all.add(mine);
                } else {
                    all.set(same, PrefixMatch.beside(all.get(same), mine));
                }
            }
        }
        return all;
    }

    private static int indexOf(List<PrefixMatch> matches, int blockSize) {
        for (int i = 0; i < matches.size(); i++) {
            if (matches.get(i).blockSize() == blockSize) {
                return i;
            }
        }
        return -1;
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
