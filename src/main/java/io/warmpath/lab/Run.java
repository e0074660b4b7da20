package io.warmpath.lab;

import io.warmpath.lab.policy.Call;
import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.Policies;
import io.warmpath.lab.policy.Policy;
import io.warmpath.lab.policy.World;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Workload;
import io.warmpath.sim.virtual.BlockCache;
import io.warmpath.sim.virtual.EngineModel;
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
    private final Policy policy;
    private final Observed observed;
    private final int[] waitsFor;
    private int nextStart;
    private int left;

    private Run(Cell cell, Workload workload, Indexes indexes) {
        this.workload = workload;
        this.rate = cell.rate();
        Scenario s = cell.scenario();
        EngineModel model = s.model();
        int blocks = model.kvTokens() / workload.blockTokens();
        Policies.Memory memory = cell.policy().memory();
        boolean own = memory == Policies.Memory.OWN;
        BlockCache shared =
                new BlockCache(memory == Policies.Memory.INFINITE ? 1 << 29 : blocks * s.engines());
        int hostBlocks = own ? (int) (blocks * s.hostFactor()) : 0;
        List<EventFeed> feeds = new ArrayList<>();
        for (int i = 0; i < s.engines(); i++) {
            EventFeed feed = new EventFeed(time, (long) (cell.lagMillis() * NANOS_PER_MILLI), this);
            feeds.add(feed);
            engines.add(
                    new VirtualEngine<>(
                            time,
                            model,
                            workload.blockTokens(),
                            1,
                            own ? new BlockCache(blocks) : shared,
                            !own,
                            hostBlocks,
                            feed));
        }
        policy =
                cell.policy()
                        .make()
                        .apply(
                                new World(
                                        time,
                                        new SplittableRandom(cell.seed()),
                                        model,
                                        workload.blockTokens(),
                                        hostBlocks > 0,
                                        engines,
                                        workload.size(),
                                        workload.ids(),
                                        indexes));
        for (int i = 0; i < feeds.size(); i++) {
            feeds.get(i).tell(policy, i);
        }
        observed = new Observed(workload, s.engines(), workload.spanMillis() / rate);
        waitsFor = workload.dependencies().clone();
        left = workload.size();
    }

    static Result play(Cell cell, Workload workload, Indexes indexes) {
        Run run = new Run(cell, workload, indexes);
        try {
            run.play();
        } finally {
            run.policy.close();
        }
        return run.observed.result(cell, run.time.nanos() / 1e9);
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
        int engine = policy.choose(call);
        observed.sent(number, engine, time.nanos());
        engines.get(engine).submit(call);
    }

    void firstToken(Call call) {
        observed.firstToken(call.number(), call.cachedTokens(), time.nanos());
        policy.firstToken(call);
    }

    void ended(Call call) {
        left--;
        observed.ended(call.number(), time.nanos());
        policy.ended(call);
        for (int next : workload.dependents()[call.number()]) {
            if (--waitsFor[next] == 0) {
                time.after(workload.pauseMillis()[next] * 1_000_000L, () -> send(next));
            }
        }
    }
}
