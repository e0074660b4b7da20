package io.warmpath.routing.scenario;

import io.warmpath.admission.Admission;
import io.warmpath.admission.AdmissionOptions;
import io.warmpath.admission.Claim;
import io.warmpath.admission.ModelQueue;
import io.warmpath.admission.Ticket;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.IndexOverlaps;
import io.warmpath.gateway.Overlaps;
import io.warmpath.gateway.PromptContent;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.SideIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlots;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.routing.Routers;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Sent;
import io.warmpath.routing.TaintRules;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A gateway's decision path in front of modelled engines, in virtual time. One thread; equal seeds
 * give equal runs.
 *
 * <p>Index, side index, load, queue and router are the product's, called in the order in which the
 * gateway does. A request's events reach the index {@link #LAG_MILLIS} after they happen; first
 * tokens and ends are seen at once, because answers are streamed through the gateway.
 */
final class Lab {
    static final double LAG_MILLIS = 10;
    private static final String MODEL = "m";

    final VirtualTime time = new VirtualTime();
    final SplittableRandom random;
    private final PrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlots slots;
    private final Overlaps overlaps;
    private final LoadTracker loads = new LoadTracker(time::nanos, LoadOptions.DEFAULT, 5);
    private final Router router;
    private final Admission admission;
    private final Rule rule;
    private final List<Engine> engines = new ArrayList<>();
    private final List<Request> served = new ArrayList<>();
    private List<Candidate> candidates = List.of();

    /** By worker; what naive rules look at. */
    private final List<Integer> answering = new ArrayList<>();

    private final List<Integer> running = new ArrayList<>();

    Lab(Setting setting, long seed) {
        random = new SplittableRandom(seed);
        SplittableRandom ties = random.split();
        if (setting.predictedMillis() > 0) {
            SideIndex side =
                    new SideIndex(
                            index,
                            new ReferencePrefixIndex(
                                    1 << 10,
                                    new DecisionLimits(setting.predictedMillis(), 1 << 24)));
            slots = side;
            overlaps = IndexOverlaps.ofBoth(index, side, time::nanos);
        } else {
            slots = index;
            overlaps = IndexOverlaps.ofEvents(index);
        }
        router = Routers.create(setting.options(), loads, () -> ties, time::nanos);
        AdmissionOptions off = AdmissionOptions.OFF;
        admission =
                new Admission(
                        new AdmissionOptions(
                                setting.queue(),
                                off.perModel(),
                                off.busy(),
                                off.batchedTokens(),
                                off.overlapRefresh(),
                                off.overloadStatus()),
                        loads,
                        time::nanos);
        rule = setting.naive() == null ? this::decide : setting.naive();
    }

    private Rule.Pick decide(RoutingRequest request, Lab lab) {
        RoutingDecision decision = router.decide(request);
        return new Rule.Pick(request.candidates().indexOf(decision.chosen().candidate()), decision);
    }

    /** What the product would decide, for naive rules that spoil its last step. */
    RoutingDecision explained(RoutingRequest request) {
        return router.decide(request.with(RoutingRequest.Detail.ALL));
    }

    /**
     * @param speed 1 is the model's
     * @return its number
     */
    int addWorker(double speed) {
        int number = engines.size();
        Worker.Rank rank = new Worker.Rank(0, slots.open(1));
        Worker worker =
                new Worker(
                        number,
                        "w" + number,
                        URI.create("http://w" + number),
                        EngineKind.VLLM,
                        Set.of(MODEL),
                        Prompt.BLOCK,
                        WorkerState.READY,
                        List.of(rank),
                        new Capacity(Engine.BATCHED_TOKENS, Engine.KV_BLOCKS));
        engines.add(new Engine(time, rank.slot(), speed, this::tellLater));
        answering.add(0);
        running.add(0);
        List<Candidate> more = new ArrayList<>(candidates);
        more.add(new Candidate(worker, 0, rank.slot()));
        candidates = List.copyOf(more);
        admission.wake();
        return number;
    }

    Lab withWorkers(int count) {
        for (int i = 0; i < count; i++) {
            addWorker(1);
        }
        return this;
    }

    Engine engine(int worker) {
        return engines.get(worker);
    }

    private void tellLater(PrefixEvent event) {
        time.after(LAG_MILLIS, () -> index.apply(List.of(event)));
    }

    void send(Prompt prompt) {
        send(prompt, () -> {});
    }

    /** Goes where the rule says. */
    void send(Prompt prompt, Runnable whenOver) {
        enter(new Request(prompt, OptionalLong.empty(), whenOver, time.millis()));
    }

    /** Goes to this worker, as if its client had asked for it; not among {@link #served}. */
    void pin(Prompt prompt, int worker) {
        enter(new Request(prompt, OptionalLong.of(worker), () -> {}, time.millis()));
    }

    private void enter(Request r) {
        ModelQueue queue = r.pin.isPresent() ? null : admission.queue(MODEL);
        if (queue == null) {
            dispatch(r);
            return;
        }
        int[] tokens = r.prompt.promptTokens();
        int cached = 0;
        for (Candidate c : candidates) {
            cached = Math.max(cached, depth(matches(tokens), c) * Prompt.BLOCK);
        }
        // Later, though at the same time, because the queue may start it before it is entered.
        Runnable start = () -> time.after(0, () -> startWaiting(queue, r));
        Claim claim = new Claim("", tokens.length, cached, 0, 0, () -> candidates);
        switch (queue.enter(claim, candidates.size(), start)) {
            case ModelQueue.Entry.Admitted admitted -> dispatch(r);
            case ModelQueue.Entry.Waiting waiting -> r.ticket = waiting.ticket();
            case ModelQueue.Entry.Full full ->
                    throw new IllegalStateException(full.limit() + " was not set");
        }
    }

    private void startWaiting(ModelQueue queue, Request r) {
        dispatch(r);
        queue.started(Objects.requireNonNull(r.ticket));
    }

    private List<PrefixMatch> matches(int[] tokens) {
        return overlaps.matches(MODEL, PrefixSpace.NONE, candidates, PromptContent.of(tokens));
    }

    /** Leading blocks that the candidate is taken to hold. */
    static int depth(List<PrefixMatch> matches, Candidate candidate) {
        return matches.getFirst().depth(candidate.slot(), Tier.GPU);
    }

    private void dispatch(Request r) {
        int[] tokens = r.prompt.promptTokens();
        PromptBlocks named = loads.name(MODEL, "", tokens, Prompt.BLOCK);
        RoutingRequest request =
                new RoutingRequest(
                        candidates,
                        tokens.length,
                        matches(tokens),
                        List.of(named),
                        r.pin,
                        OptionalInt.empty(),
                        TaintRules.NONE,
                        RouterOverrides.NONE,
                        null,
                        0,
                        RoutingRequest.Detail.CHOSEN,
                        List.of());
        Rule.Pick pick = r.pin.isPresent() ? decide(request, this) : rule.pick(request, this);
        Candidate to = candidates.get(pick.worker());
        RoutingDecision decision = pick.decision();
        int prefill =
                decision == null
                        ? tokens.length - depth(request.matches(), to) * Prompt.BLOCK
                        : decision.chosen().prefillTokens();
        r.worker = pick.worker();
        r.sentMillis = time.millis();
        r.booking = loads.book(to.slot(), prefill, named, 0);
        r.sent = decision == null ? Sent.UNSEEN : router.sent(decision, true);
        overlaps.booked(MODEL, PrefixSpace.NONE, to, PromptContent.of(tokens));
        running.set(r.worker, running.get(r.worker) + 1);
        if (r.pin.isEmpty()) {
            served.add(r);
        }
        engines.get(r.worker).submit(r.prompt, r);
    }

    /** Requests sent to the worker that have not ended. */
    int running(int worker) {
        return running.get(worker);
    }

    /** Of these, those whose first token has come. */
    int answering(int worker) {
        return answering.get(worker);
    }

    /** Plays until this moment, in milliseconds. */
    Outcome play(double untilMillis) {
        // Decisions that are due end, as the gateway's own timer has it.
        for (double at = 250; at < untilMillis; at += 250) {
            time.after(at, overlaps::tidy);
        }
        time.runUntil(untilMillis);
        return new Outcome(List.copyOf(served), engines.size(), isIdle());
    }

    /** All is over: engines, load and queue are as at the beginning. */
    private boolean isIdle() {
        boolean idle = loads.open() == 0 && loads.stretches() == 0 && admission.waiting() == 0;
        for (int i = 0; i < engines.size(); i++) {
            idle &= engines.get(i).blocksInUse() == 0 && running.get(i) == 0;
            idle &= loads.load(candidates.get(i).slot()).blocks() == 0;
        }
        return idle;
    }

    /** One request, from its arrival to its end. */
    final class Request implements Engine.Client {
        private final Prompt prompt;
        private final OptionalLong pin;
        private final Runnable whenOver;
        private final double arrivedMillis;
        private double sentMillis;
        private double firstMillis = Double.NaN;
        private double endMillis = Double.NaN;
        private int worker;
        private int cached;
        private @Nullable Ticket ticket;
        private LoadBook.@Nullable Booking booking;
        private @Nullable Sent sent;

        private Request(Prompt prompt, OptionalLong pin, Runnable whenOver, double arrivedMillis) {
            this.prompt = prompt;
            this.pin = pin;
            this.whenOver = whenOver;
            this.arrivedMillis = arrivedMillis;
        }

        int worker() {
            return worker;
        }

        double sentMillis() {
            return sentMillis;
        }

        int promptTokens() {
            return prompt.prompt();
        }

        /** Tokens that the engine found; 0 until its first token. */
        int cachedTokens() {
            return cached;
        }

        /** Time to the first token; NaN when none came. */
        double firstTokenMillis() {
            return firstMillis - arrivedMillis;
        }

        /** Time to the whole answer; NaN when it did not come. */
        double answerMillis() {
            return endMillis - arrivedMillis;
        }

        @Override
        public void firstToken(int cachedTokens) {
            firstMillis = time.millis();
            cached = cachedTokens;
            answering.set(worker, answering.get(worker) + 1);
            Objects.requireNonNull(booking).firstToken();
            Objects.requireNonNull(sent).firstToken();
            admission.wake();
        }

        @Override
        public void ended(int answerTokens) {
            endMillis = time.millis();
            running.set(worker, running.get(worker) - 1);
            answering.set(worker, answering.get(worker) - 1);
            Objects.requireNonNull(booking).close();
            Objects.requireNonNull(sent).ended(answerTokens);
            admission.wake();
            whenOver.run();
        }
    }
}
