package io.warmpath.lab.policy;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Role;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.BlockTracker;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.NumberedSlots;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import io.warmpath.routing.Part;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Scores;
import io.warmpath.routing.SharedHits;
import io.warmpath.routing.SharedView;
import io.warmpath.routing.Splitting;
import io.warmpath.routing.TransferCost;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.FleetPressure;
import io.warmpath.routing.rates.Sent;
import io.warmpath.routing.rates.TransferRates;
import io.warmpath.sim.virtual.BlockStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The product's own decision: its router, load book, index and side index, called in the gateway's
 * order. Clock and random are the run's.
 */
final class ProductPolicy extends Policy {
    private static final long EVICT_NANOS = 30_000_000_000L;
    private static final int TRACKED_TOKENS = 16 * (int) BlockTracker.Options.DEFAULT_MAX_BLOCKS;
    private static final long SECRET = 5;

    private final World world;
    private final Router router;
    private final LoadTracker loads;
    private final WorkerSlots slots;

    /** By engine, those that have left too. */
    private final List<Candidate> known = new ArrayList<>();

    private List<Candidate> candidates = List.of();
    private List<Candidate> prefills = List.of();
    private final @Nullable Halves halves;
    private final @Nullable Splitting splitting;
    private final LoadBook.Booking[] prefillBookings;
    private final Sent[] prefillSent;
    private int prefiller = -1;
    private final @Nullable PrefixIndex index;
    private final @Nullable BlockTracker tracker;
    private final LoadBook.Booking[] bookings;
    private final Sent[] sent;

    ProductPolicy(World world, RouterOptions options) {
        this(world, options, null);
    }

    /** {@code halves}: null: each engine does whole requests. */
    ProductPolicy(World world, RouterOptions options, @Nullable Halves halves) {
        this.world = world;
        this.halves = halves;
        splitting =
                halves == null
                        ? null
                        : new Splitting(
                                TransferCost.of(
                                        halves.setupMillis(),
                                        (double) Halves.bytesPerToken(world.model()),
                                        halves.gigabitsPerSecond(),
                                        0.1),
                                new TransferRates(),
                                OptionalLong.empty());
        prefillBookings = new LoadBook.Booking[halves == null ? 0 : world.calls()];
        prefillSent = new Sent[halves == null ? 0 : world.calls()];
        loads = new LoadTracker(world.time()::nanos, LoadOptions.DEFAULT, SECRET);
        router = Routers.create(options, loads, world::random, world.time()::nanos);
        bookings = new LoadBook.Booking[world.calls()];
        sent = new Sent[world.calls()];
        boolean cost = options.mode() == RouterMode.KV;
        index = cost ? world.indexes().index(DecisionLimits.DEFAULT) : null;
        tracker =
                options.mode() == RouterMode.VLLM_CACHE_AWARE
                        ? world.indexes()
                                .tracker(
                                        new BlockTracker.Options(
                                                1,
                                                BlockTracker.Hashing.POSITION,
                                                TRACKED_TOKENS / world.blockTokens()))
                        : null;
        slots = index != null ? index : new NumberedSlots();
        for (int i = 0; i < world.engines().size(); i++) {
            joined();
        }
        if (tracker != null) {
            world.time().after(EVICT_NANOS, this::evict);
        }
    }

    @Override
    public final void joined() {
        boolean alone = halves == null || !halves.apart();
        Role role = role(known.size());
        Candidate fresh = LabEngineView.open(world, slots, known.size(), role, alone);
        known.add(fresh);
        if (role == Role.PREFILL) {
            prefills = with(prefills, fresh);
        }
        if (alone || role != Role.PREFILL) {
            candidates = with(candidates, fresh);
        }
        if (tracker != null) {
            tracker.join(fresh.slot());
        }
    }

    private Role role(int engine) {
        if (halves == null) {
            return Role.BOTH;
        }
        return engine < halves.prefills() ? Role.PREFILL : Role.DECODE;
    }

    private static List<Candidate> with(List<Candidate> all, Candidate one) {
        List<Candidate> more = new ArrayList<>(all);
        more.add(one);
        return List.copyOf(more);
    }

    @Override
    public @Nullable Halves halves() {
        return halves;
    }

    @Override
    public int prefiller() {
        return prefiller;
    }

    @Override
    public void left(int engine) {
        super.left(engine);
        candidates = candidates.stream().filter(c -> isHere((int) c.worker().id())).toList();
    }

    private void evict() {
        if (tracker != null) {
            tracker.evict();
            world.time().after(EVICT_NANOS, this::evict);
        }
    }

    @Override
    public void among(int place, int routers) {
        router.among(place, routers);
    }

    /**
     * Booked and no more, as gateways do it: nothing is learnt from it, and nothing predicted to be
     * cached. What has to be computed is estimated here, as it would be there.
     */
    @Override
    public void sentByPeer(Call call, int engine) {
        PromptBlocks named = Prompts.named(call, world.blockTokens());
        // Perhaps one that has left meanwhile.
        RoutingDecision decision =
                decide(
                        call,
                        Prompts.query(call),
                        named,
                        isHere(engine) ? candidates : known,
                        OptionalLong.of(engine),
                        Part.WHOLE,
                        TransferCost.NONE,
                        detail(false));
        bookings[call.number()] =
                loads.bookForPeer(
                        decision.chosen().candidate().slot(),
                        decision.chosen().prefillTokens(),
                        named,
                        0);
        sent[call.number()] =
                router.sentByPeer(
                        decision.chosen().candidate().slot(),
                        decision.chosen().prefillTokens(),
                        call.promptTokens(),
                        0,
                        false);
    }

    @Override
    public int choose(Call call) {
        PrefixQuery query = Prompts.query(call);
        PromptBlocks named = Prompts.named(call, world.blockTokens());
        boolean explained = explains(call);
        Splitting.Plan plan = plan(call, query, named);
        RoutingDecision decision =
                decide(
                        call,
                        query,
                        named,
                        plan.candidates(),
                        OptionalLong.empty(),
                        plan.part(),
                        plan.transfer(),
                        detail(explained));
        prefiller = plan.prefills().isEmpty() ? -1 : prefill(call, query, named, plan.prefills());
        if (explained) {
            tell(call, decision);
        }
        Candidate to = decision.chosen().candidate();
        bookings[call.number()] =
                loads.book(to.slot(), decision.chosen().prefillTokens(), named, 0);
        sent[call.number()] = router.sent(decision, call.streamed());
        if (!call.streamed()) {
            watch(call.number());
        }
        if (tracker != null) {
            tracker.record(to.slot(), query);
        }
        return (int) to.worker().id();
    }

    /**
     * Ends its prefill when its speed says so, as the gateway does where it sees no first token.
     */
    @SuppressWarnings("NullAway") // the places of calls that are over are given back
    private void watch(int number) {
        Sent of = sent[number];
        LoadBook.Booking booking = bookings[number];
        long nanos = of.prefillNanos();
        if (nanos == 0) {
            booking.firstToken();
        } else if (nanos != Sent.NOT_KNOWN) {
            world.time()
                    .after(
                            nanos,
                            () -> {
                                if (sent[number] == of) {
                                    watch(number);
                                }
                            });
        }
    }

    private Splitting.Plan plan(Call call, PrefixQuery query, PromptBlocks named) {
        return splitting == null
                ? Splitting.Plan.whole(candidates)
                : splitting.plan(
                        (among, part, transfer) ->
                                decide(
                                        call,
                                        query,
                                        named,
                                        among,
                                        OptionalLong.empty(),
                                        part,
                                        transfer,
                                        RoutingRequest.Detail.DRY_RUN),
                        candidates,
                        prefills,
                        call.promptTokens());
    }

    /** Books who computes the prompt for another one. */
    private int prefill(Call call, PrefixQuery query, PromptBlocks named, List<Candidate> among) {
        RoutingDecision decision =
                decide(
                        call,
                        query,
                        named,
                        among,
                        OptionalLong.empty(),
                        Part.PREFILL,
                        TransferCost.NONE,
                        detail(false));
        Candidate to = decision.chosen().candidate();
        prefillBookings[call.number()] =
                loads.book(to.slot(), decision.chosen().prefillTokens(), named, 1);
        prefillSent[call.number()] = router.sent(decision, true);
        return (int) to.worker().id();
    }

    @Override
    @SuppressWarnings("NullAway") // the places of calls that are over are given back
    public void prefilled(Call call) {
        prefillBookings[call.number()].firstToken();
        prefillSent[call.number()].firstToken();
        prefillBookings[call.number()].close();
        prefillSent[call.number()].ended(1);
        prefillBookings[call.number()] = null;
        prefillSent[call.number()] = null;
    }

    private static RoutingRequest.Detail detail(boolean explained) {
        return explained ? RoutingRequest.Detail.ALL : RoutingRequest.Detail.CHOSEN;
    }

    private RoutingDecision decide(
            Call call,
            PrefixQuery query,
            PromptBlocks named,
            List<Candidate> among,
            OptionalLong pin,
            Part part,
            TransferCost transfer,
            RoutingRequest.Detail detail) {
        return router.decide(
                RoutingRequest.builder(among, call.promptTokens(), matches(query))
                        .prompts(List.of(named))
                        .pinnedWorker(pin)
                        .shared(shared(call))
                        .part(part)
                        .transfer(transfer)
                        .detail(detail)
                        .build());
    }

    /** The terms of all candidates, as the gateway's own explanation has them. */
    private void tell(Call call, RoutingDecision decision) {
        because(call, decision.reason());
        Scores all = decision.compared();
        for (int i = 0; i < all.size(); i++) {
            int engine = (int) all.candidate(i).worker().id();
            List<Double> terms = all.terms(i);
            for (int t = 0; t < terms.size(); t++) {
                note(call, engine, all.names().get(t), terms.get(t));
            }
        }
    }

    private @Nullable SharedView shared(Call call) {
        BlockStore pool = world.pool();
        int depth = pool == null ? 0 : pool.depth(call.blocks(), 0, call.promptBlocks());
        return depth == 0 ? null : SharedView.of(new SharedHits(world.blockTokens(), 0, depth));
    }

    private List<PrefixMatch> matches(PrefixQuery query) {
        PrefixMatch match;
        if (tracker != null) {
            match = tracker.find(query);
        } else if (index != null) {
            match = index.match(query);
        } else {
            return List.of();
        }
        return List.of(Prompts.inBlocks(match, world.blockTokens()));
    }

    @Override
    public void firstToken(Call call) {
        bookings[call.number()].firstToken();
        sent[call.number()].firstToken();
    }

    @Override
    public void ended(Call call) {
        close(call, call.answerTokens());
    }

    @Override
    public void forget(Call call) {
        close(call, -1);
    }

    @SuppressWarnings("NullAway") // the places of calls that are over are given back
    private void close(Call call, int answerTokens) {
        bookings[call.number()].close();
        sent[call.number()].ended(answerTokens);
        bookings[call.number()] = null;
        sent[call.number()] = null;
    }

    @Override
    public Optional<FleetPressure> pressure() {
        return candidates.isEmpty() ? Optional.empty() : router.pressure(candidates);
    }

    @Override
    public boolean followsEvents() {
        return index != null;
    }

    @Override
    public WorkerSlot slot(int engine) {
        return known.get(engine).slot();
    }

    @Override
    public void apply(List<PrefixEvent> events) {
        if (index != null) {
            index.apply(events);
        }
    }

    @Override
    public void close() {
        if (tracker != null) {
            tracker.close();
        }
        if (index != null) {
            index.close();
        }
    }
}
