package io.warmpath.routing.modes;

import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.load.LoadBook;
import io.warmpath.load.PotentialBlocks;
import io.warmpath.load.PromptBlocks;
import io.warmpath.load.WorkerLoad;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.Choice;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Score;
import io.warmpath.routing.Scores;
import io.warmpath.routing.rates.FleetRates;
import io.warmpath.routing.rates.Pace;
import io.warmpath.routing.rates.RateState;
import io.warmpath.routing.rates.Speeds;
import io.warmpath.routing.rates.Unheard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What another policy would have chosen for decisions that were kept in full detail. The routers
 * and costs are those of live requests, over the caches and loads as each decision saw them: the
 * loads that the other choices would have led to are not in it. One per run, one thread.
 * O(decisions × candidates).
 */
public final class Replay {
    /** The other policy; null leaves what a decision was made with. */
    public record Policy(
            @Nullable RouterMode mode, @Nullable CostKind cost, RouterOverrides overrides) {}

    /**
     * A decision that would have been another one.
     *
     * @param index which of those that were replayed
     */
    public record Change(int index, Score was, Score would) {}

    /**
     * @param skipped could not be replayed: a mode that refuses them, or a cost in milliseconds
     *     where the workers' speeds were not kept
     * @param indifferent the policy ties, by cost, what was chosen with its own choice
     * @param wasCachedTokens predicted for what was chosen, over all that were replayed
     * @param wasPrefillTokens booked for what was chosen
     */
    public record Outcome(
            int replayed,
            int skipped,
            int indifferent,
            long wasCachedTokens,
            long wouldCachedTokens,
            long wasPrefillTokens,
            long wouldPrefillTokens,
            List<Change> changes) {}

    private final Policy policy;
    private final Supplier<? extends RandomGenerator> random;
    private final RecordedLoads loads = new RecordedLoads();
    private final RecordedSpeeds speeds = new RecordedSpeeds();

    /** One per setting, so that turns go round and ties remember over the whole run. */
    private final Map<RouterOptions, Router> routers = new HashMap<>();

    private Replay(Policy policy, Supplier<? extends RandomGenerator> random) {
        this.policy = policy;
        this.random = random;
    }

    /** {@code decisions}: in the order in which they were made. */
    public static Outcome run(
            List<RoutingDecision> decisions,
            Policy policy,
            Supplier<? extends RandomGenerator> random) {
        return new Replay(policy, random).all(decisions);
    }

    private Outcome all(List<RoutingDecision> decisions) {
        int replayed = 0;
        int indifferent = 0;
        long wasCached = 0;
        long wouldCached = 0;
        long wasPrefill = 0;
        long wouldPrefill = 0;
        List<Change> changes = new ArrayList<>();
        for (int i = 0; i < decisions.size(); i++) {
            RoutingDecision was = decisions.get(i);
            RoutingDecision would = again(was);
            if (would == null) {
                continue;
            }
            replayed++;
            if (isIndifferent(was, would)) {
                indifferent++;
                would = was;
            } else if (!same(was.chosen().candidate(), would.chosen().candidate())) {
                changes.add(new Change(i, was.chosen(), would.chosen()));
            }
            wasCached += was.chosen().cachedTokens();
            wouldCached += would.chosen().cachedTokens();
            wasPrefill += was.chosen().prefillTokens();
            wouldPrefill += would.chosen().prefillTokens();
        }
        return new Outcome(
                replayed,
                decisions.size() - replayed,
                indifferent,
                wasCached,
                wouldCached,
                wasPrefill,
                wouldPrefill,
                List.copyOf(changes));
    }

    private @Nullable RoutingDecision again(RoutingDecision was) {
        RouterOptions options = options(was.options());
        boolean lacksSpeeds =
                options.shownCost() == CostKind.LATENCY && was.compared().pace() == null;
        if (!was.compared().detailed() || lacksSpeeds) {
            return null;
        }
        loads.as(was);
        speeds.as(was);
        try {
            return routers.computeIfAbsent(options, o -> Routers.create(o, loads, random, speeds))
                    .decide(
                            was.request()
                                    .with(RouterOverrides.NONE) // they are in the options
                                    .with(RoutingRequest.Detail.ALL));
        } catch (GatewayException e) {
            return null; // the mode direct, without a pin
        }
    }

    private RouterOptions options(RouterOptions was) {
        RouterOptions options = was.with(policy.overrides());
        if (policy.mode() != null) {
            options = options.with(policy.mode());
        }
        return policy.cost() == null ? options : options.with(policy.cost(), options.latency());
    }

    /** Both cost the same, and chance or the memory of ties decided. */
    private static boolean isIndifferent(RoutingDecision was, RoutingDecision would) {
        Choice.Kind kind = would.choice().kind();
        if (kind != Choice.Kind.TIE_DRAWN && kind != Choice.Kind.SERVED_LAST) {
            return false;
        }
        if (same(was.chosen().candidate(), would.chosen().candidate())) {
            return false;
        }
        for (Score s : would.scores()) {
            if (same(s.candidate(), was.chosen().candidate())) {
                return s.cost() == would.choice().best();
            }
        }
        return false;
    }

    private static boolean same(Candidate a, Candidate b) {
        return a.slot().equals(b.slot());
    }

    /** The loads that one decision saw. */
    private static final class RecordedLoads implements LoadBook {
        private final Map<Integer, WorkerLoad> seen = new HashMap<>();
        private PotentialBlocks potential = PotentialBlocks.ALL_NEW;

        void as(RoutingDecision decision) {
            Scores all = decision.compared();
            int prefill = all.names().indexOf("active_prefill_tokens");
            int blocks = all.names().indexOf("active_blocks");
            int requests = all.names().indexOf("active_requests");
            seen.clear();
            for (int i = 0; i < all.size(); i++) {
                List<Double> terms = all.terms(i);
                seen.put(
                        all.candidate(i).slot().index(),
                        new WorkerLoad(
                                terms.get(prefill).longValue(),
                                terms.get(blocks),
                                terms.get(requests).intValue()));
            }
            potential = all.potential();
        }

        @Override
        public WorkerLoad load(WorkerSlot slot) {
            return seen.getOrDefault(slot.index(), WorkerLoad.IDLE);
        }

        @Override
        public PotentialBlocks potential(List<PromptBlocks> prompts) {
            return potential;
        }

        @Override
        public Booking book(
                WorkerSlot slot, int prefillTokens, PromptBlocks prompt, int expectedOutput) {
            throw new UnsupportedOperationException("a replay books nothing");
        }

        @Override
        public long open() {
            return 0;
        }
    }

    /** The speeds that one decision saw. */
    private static final class RecordedSpeeds implements Speeds {
        private final Map<WorkerSlot, RateState> seen = new HashMap<>();
        private Pace pace = new Pace(0, FleetRates.UNSEEN, 0, Unheard.NONE, new RateState[0]);

        void as(RoutingDecision decision) {
            Scores all = decision.compared();
            Pace kept = all.pace();
            seen.clear();
            if (kept != null) {
                pace = kept;
                for (int i = 0; i < all.size(); i++) {
                    seen.put(all.candidate(i).slot(), kept.states()[i]);
                }
            }
        }

        @Override
        public long now() {
            return pace.nowNanos();
        }

        @Override
        public RateState state(WorkerSlot slot) {
            return seen.getOrDefault(slot, RateState.IDLE);
        }

        @Override
        public double outputTokens() {
            return pace.outputTokens();
        }

        @Override
        public Unheard unheard() {
            return pace.unheard();
        }

        @Override
        public FleetRates fleet(List<Candidate> candidates, long now) {
            return pace.fleet();
        }
    }
}
