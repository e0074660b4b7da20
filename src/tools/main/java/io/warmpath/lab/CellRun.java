package io.warmpath.lab;

import io.warmpath.lab.policy.Call;
import io.warmpath.lab.policy.Halves;
import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.Policy;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.policy.Why;
import io.warmpath.lab.policy.World;
import io.warmpath.lab.workload.Fault;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Workload;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.sim.virtual.BlockCache;
import io.warmpath.sim.virtual.BlockStore;
import io.warmpath.sim.virtual.VirtualEngine;
import io.warmpath.sim.virtual.VirtualTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Plays one {@link Cell}. One thread, used once; equal cells give equal results. First tokens and
 * ends are seen at once, because answers are streamed through the router; of an answer in one piece
 * it sees the end alone.
 */
final class CellRun {
    private static final double NANOS_PER_MILLI = 1e6;

    /** After which the fleet's pressure is looked at again. */
    private static final long PRESSURE_NANOS = 5_000_000_000L;

    private final Workload workload;
    private final double rate;
    private final VirtualTime time = new VirtualTime();
    private final List<VirtualEngine<Call>> engines = new ArrayList<>();
    private final Cell cell;
    private final BlockCache sharedCache;
    private final @Nullable BlockStore pool;
    private final List<Router> routers = new ArrayList<>();
    private final Peers peers;
    private final Observed observed;
    private final int[] waitsFor;
    private final @Nullable Transfers transfers;
    private final int[] prefiller;
    private final int[] decoder;
    private int nextStart;
    private int left;
    private int underWay;
    private final Deque<Integer> held = new ArrayDeque<>();

    private CellRun(Cell cell, Workload workload, Indexes indexes, @Nullable Why why) {
        this.workload = workload;
        this.rate = cell.rate();
        this.cell = cell;
        Scenario s = cell.scenario();
        boolean infinite = cell.policy().memory() == PolicyCatalog.Memory.INFINITE;
        sharedCache = new BlockCache(infinite ? 1 << 29 : blocks() * s.engines());
        int poolBlocks = ownMemory() ? (int) (blocks() * s.engines() * s.poolFactor()) : 0;
        pool = poolBlocks > 0 ? new BlockStore(poolBlocks) : null;
        peers = new Peers(time, cell.replicas());
        for (int i = 0; i < s.enginesAtStart(); i++) {
            addEngine(1);
        }
        for (int i = 0; i < cell.replicas().count(); i++) {
            World world =
                    new World(
                            time,
                            new SplittableRandom(cell.seed() + 1_000_003L * i),
                            s.model(),
                            workload.blockTokens(),
                            pool,
                            engines,
                            s.engines(),
                            workload.size(),
                            workload.ids(),
                            indexes);
            Policy policy = cell.policy().make().apply(world);
            peers.add(policy);
            if (why != null) {
                policy.explain(why);
            }
            routers.add(
                    new Router(
                            i,
                            policy,
                            new LateEvents((long) (cell.lagMillis() * NANOS_PER_MILLI))));
        }
        Halves halves = routers.getFirst().policy().halves();
        transfers = halves == null ? null : new Transfers(time, halves, s.model(), s.engines());
        prefiller = new int[halves == null ? 0 : workload.size()];
        decoder = new int[halves == null ? 0 : workload.size()];
        s.faults().forEach(this::schedule);
        observed = new Observed(workload, s.engines(), workload.spanMillis() / rate);
        waitsFor = workload.dependencies().clone();
        left = workload.size();
    }

    /** A gateway, and what is on its way to it. */
    private record Router(int number, Policy policy, LateEvents events) {}

    private int blocks() {
        return cell.scenario().model().kvTokens() / workload.blockTokens();
    }

    private int hostBlocks() {
        return ownMemory() ? (int) (blocks() * cell.scenario().hostFactor()) : 0;
    }

    private boolean ownMemory() {
        return cell.policy().memory() == PolicyCatalog.Memory.OWN;
    }

    private void addEngine(double speed) {
        boolean own = ownMemory();
        engines.add(
                new VirtualEngine<>(
                        time,
                        cell.scenario().model(),
                        workload.blockTokens(),
                        speed,
                        own ? new BlockCache(blocks()) : sharedCache,
                        !own,
                        hostBlocks(),
                        pool,
                        new EngineObserver(this, engines.size())));
    }

    private void schedule(Fault fault) {
        double millis = fault.millis(workload.spanMillis() / rate);
        time.at((long) (millis * NANOS_PER_MILLI), () -> happens(fault));
    }

    private void happens(Fault fault) {
        switch (fault.kind()) {
            case FREEZE ->
                    engines.get(fault.engine())
                            .freezeUntil(time.nanos() + (long) (fault.seconds() * 1e9));
            case SPEED -> engines.get(fault.engine()).setSpeed(fault.speed());
            case JOIN -> {
                addEngine(fault.speed());
                routers.forEach(r -> r.policy().joined());
            }
            case LEAVE -> routers.forEach(r -> r.policy().left(fault.engine()));
            case CUT -> peers.cut(fault.seconds());
        }
    }

    static Result play(Cell cell, Workload workload, Indexes indexes) {
        return observe(cell, workload, indexes, null).result(cell, Limits.of(cell.scenario()));
    }

    /** {@code why}: gets the reasons of those choices that it wants; null: nobody asks. */
    static Observed observe(Cell cell, Workload workload, Indexes indexes, @Nullable Why why) {
        CellRun run = new CellRun(cell, workload, indexes, why);
        try {
            run.play();
        } finally {
            run.routers.forEach(r -> r.policy().close());
        }
        return run.observed;
    }

    private void play() {
        scheduleStart();
        time.after(PRESSURE_NANOS, this::lookAtPressure);
        while (left > 0) {
            if (!time.step()) {
                throw new IllegalStateException(left + " requests wait, and nothing happens");
            }
        }
    }

    private void lookAtPressure() {
        routers.getFirst().policy().pressure().ifPresent(p -> observed.pressed(p, time.nanos()));
        if (time.nanos() < workload.spanMillis() / rate * NANOS_PER_MILLI) {
            time.after(PRESSURE_NANOS, this::lookAtPressure);
        }
    }

    private void scheduleStart() {
        while (nextStart < workload.size() && workload.dependencies()[nextStart] > 0) {
            nextStart++;
        }
        if (nextStart < workload.size()) {
            time.at(
                    (long) (workload.startMillis()[nextStart] / rate * NANOS_PER_MILLI),
                    this::start);
        }
    }

    private void start() {
        int number = nextStart++;
        scheduleStart();
        enter(number);
    }

    /** Its client sends it, or waits until fewer are under way. */
    private void enter(int number) {
        if (underWay == workload.atOnce()) {
            held.add(number);
        } else {
            underWay++;
            send(number);
        }
    }

    private void send(int number) {
        Call call =
                new Call(
                        number,
                        workload.blocks()[number],
                        workload.prompt()[number],
                        workload.answer()[number],
                        workload.blockTokens(),
                        !isInOnePiece(number));
        Router router = routerOf(number);
        List<PrefixEvent> news = router.events().arrived(time.nanos());
        if (!news.isEmpty()) {
            router.policy().apply(news);
        }
        int engine = workload.engine(number);
        if (engine < 0) {
            engine = router.policy().choose(call);
        } else {
            router.policy().sentByPeer(call, engine);
        }
        observed.sent(number, engine, time.nanos());
        peers.sent(call, engine, router.number());
        int from = transfers == null ? -1 : router.policy().prefiller();
        if (from < 0) {
            engines.get(engine).submit(call);
            return;
        }
        prefiller[number] = from;
        decoder[number] = engine;
        engines.get(from).submit(call.prefill());
    }

    /** As evenly among the requests as can be. */
    private boolean isInOnePiece(int number) {
        return Math.floor((number + 1) * cell.onePiece()) > Math.floor(number * cell.onePiece());
    }

    private Router routerOf(int number) {
        return routers.get(number % routers.size());
    }

    /** Somebody wants to know. */
    boolean tellsEvents() {
        return routers.getFirst().policy().followsEvents();
    }

    /** All routers open slots in the same order, so all have the same. */
    WorkerSlot slot(int engine) {
        return routers.getFirst().policy().slot(engine);
    }

    void happened(PrefixEvent event) {
        for (int i = 0; i < routers.size(); i++) {
            routers.get(i).events().happened(time.nanos(), event);
        }
    }

    void firstToken(Call call) {
        if (call.whole() != null) {
            return;
        }
        observed.firstToken(call.number(), call.reported(), time.nanos());
        if (call.streamed()) {
            tellFirstToken(call);
        }
    }

    private void tellFirstToken(Call call) {
        Router router = routerOf(call.number());
        router.policy().firstToken(call);
        peers.firstToken(call, router.number());
    }

    /** It goes to the engine that decodes, which fetches it when it has room. */
    private void handOver(Call prompt, Call whole, Transfers way) {
        int from = prefiller[whole.number()];
        int to = decoder[whole.number()];
        routerOf(whole.number()).policy().prefilled(whole);
        whole.cachedElsewhere(prompt.cachedTokens());
        whole.comesBy(tokens -> way.at(from, to, tokens));
        engines.get(to).submit(whole);
    }

    void ended(Call call) {
        Call whole = call.whole();
        if (whole != null && transfers != null) {
            handOver(call, whole, transfers);
            return;
        }
        left--;
        observed.ended(call.number(), time.nanos());
        if (!call.streamed()) {
            tellFirstToken(call); // with the last one
        }
        Router router = routerOf(call.number());
        router.policy().ended(call);
        peers.ended(call, router.number());
        if (held.isEmpty()) {
            underWay--;
        } else {
            send(held.remove());
        }
        for (int next : workload.dependents()[call.number()]) {
            if (--waitsFor[next] == 0) {
                time.after(workload.pauseMillis()[next] * 1_000_000L, () -> enter(next));
            }
        }
    }
}
