package io.warmpath.lab;

import io.warmpath.lab.policy.Call;
import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.Policies;
import io.warmpath.lab.policy.Policy;
import io.warmpath.lab.policy.World;
import io.warmpath.lab.workload.Fault;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Workload;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.sim.virtual.BlockCache;
import io.warmpath.sim.virtual.VirtualEngine;
import io.warmpath.sim.virtual.VirtualTime;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Plays one {@link Cell}. One thread, used once; equal cells give equal results.
 *
 * <p>First tokens and ends are seen at once, because answers are streamed through the router.
 */
final class Run {
    private static final double NANOS_PER_MILLI = 1e6;

    private final Workload workload;
    private final double rate;
    private final VirtualTime time = new VirtualTime();
    private final List<VirtualEngine<Call>> engines = new ArrayList<>();
    private final Cell cell;
    private final BlockCache sharedCache;
    private final List<Router> routers = new ArrayList<>();
    private final Observed observed;
    private final int[] waitsFor;
    private int nextStart;
    private int left;

    private Run(Cell cell, Workload workload, Indexes indexes) {
        this.workload = workload;
        this.rate = cell.rate();
        this.cell = cell;
        Scenario s = cell.scenario();
        boolean infinite = cell.policy().memory() == Policies.Memory.INFINITE;
        sharedCache = new BlockCache(infinite ? 1 << 29 : blocks() * s.engines());
        for (int i = 0; i < s.enginesAtStart(); i++) {
            addEngine();
        }
        for (int i = 0; i < cell.routers(); i++) {
            World world =
                    new World(
                            time,
                            new SplittableRandom(cell.seed() + 1_000_003L * i),
                            s.model(),
                            workload.blockTokens(),
                            hostBlocks() > 0,
                            engines,
                            s.engines(),
                            workload.size(),
                            workload.ids(),
                            indexes);
            routers.add(
                    new Router(
                            cell.policy().make().apply(world),
                            new LateEvents((long) (cell.lagMillis() * NANOS_PER_MILLI))));
        }
        s.faults().forEach(this::schedule);
        observed = new Observed(workload, s.engines(), workload.spanMillis() / rate);
        waitsFor = workload.dependencies().clone();
        left = workload.size();
    }

    /** A gateway, and what is on its way to it. */
    private record Router(Policy policy, LateEvents events) {}

    private int blocks() {
        return cell.scenario().model().kvTokens() / workload.blockTokens();
    }

    private int hostBlocks() {
        boolean own = cell.policy().memory() == Policies.Memory.OWN;
        return own ? (int) (blocks() * cell.scenario().hostFactor()) : 0;
    }

    private void addEngine() {
        boolean own = cell.policy().memory() == Policies.Memory.OWN;
        engines.add(
                new VirtualEngine<>(
                        time,
                        cell.scenario().model(),
                        workload.blockTokens(),
                        1,
                        own ? new BlockCache(blocks()) : sharedCache,
                        !own,
                        hostBlocks(),
                        new EventFeed(this, engines.size())));
    }

    private void schedule(Fault fault) {
        double at = fault.at() * workload.spanMillis() / rate * NANOS_PER_MILLI;
        time.at((long) at, () -> happens(fault));
    }

    private void happens(Fault fault) {
        switch (fault.kind()) {
            case FREEZE ->
                    engines.get(fault.engine())
                            .freezeUntil(time.nanos() + (long) (fault.seconds() * 1e9));
            case SPEED -> engines.get(fault.engine()).setSpeed(fault.speed());
            case JOIN -> {
                addEngine();
                routers.forEach(r -> r.policy().joined());
            }
        }
    }

    static Result play(Cell cell, Workload workload, Indexes indexes) {
        Run run = new Run(cell, workload, indexes);
        try {
            run.play();
        } finally {
            run.routers.forEach(r -> r.policy().close());
        }
        return run.observed.result(cell);
    }

    private void play() {
        scheduleStart();
        while (left > 0) {
            if (!time.step()) {
                throw new IllegalStateException(left + " requests wait, and nothing happens");
            }
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
        send(number);
    }

    private void send(int number) {
        Call call =
                new Call(
                        number,
                        workload.blocks()[number],
                        workload.prompt()[number],
                        workload.answer()[number],
                        workload.blockTokens());
        Router router = routerOf(number);
        List<PrefixEvent> news = router.events().arrived(time.nanos());
        if (!news.isEmpty()) {
            router.policy().apply(news);
        }
        int engine = router.policy().choose(call);
        observed.sent(number, engine, time.nanos());
        engines.get(engine).submit(call);
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
        observed.firstToken(call.number(), call.cachedTokens(), time.nanos());
        routerOf(call.number()).policy().firstToken(call);
    }

    void ended(Call call) {
        left--;
        observed.ended(call.number(), time.nanos());
        routerOf(call.number()).policy().ended(call);
        for (int next : workload.dependents()[call.number()]) {
            if (--waitsFor[next] == 0) {
                time.after(workload.pauseMillis()[next] * 1_000_000L, () -> send(next));
            }
        }
    }
}
