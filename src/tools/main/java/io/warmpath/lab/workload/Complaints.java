package io.warmpath.lab.workload;

import io.warmpath.sim.virtual.EngineModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;

/**
 * What other routers were complained about, one workload each. Small fleets of the 8B model; times
 * are as they stand, so load 1 is the one to play them at.
 */
public final class Complaints {
    /** When the engine of {@code new-worker} joins. */
    private static final double JOIN_SECONDS = 20;

    /** When engine 1 of {@code stuck-worker} stops. */
    private static final double STUCK_SECONDS = 10;

    private static final int BLOCK = 64;
    private static final double ALWAYS = Double.POSITIVE_INFINITY;
    private static final Fault TWICE = Fault.speed(0, 2);
    private static final Fault STUCK =
            new Fault(Fault.Kind.FREEZE, 1, STUCK_SECONDS, false, 500, 1);
    private static final Fault JOINS = new Fault(Fault.Kind.JOIN, -1, JOIN_SECONDS, false, 0, 1);

    public static final List<Scenario> ALL =
            List.of(
                    of("equal-scores", "one at a time, all new", 4, s -> alone(800, 1000)),
                    of(
                            "idle-faster",
                            "the same, faster than the priors",
                            4,
                            s -> alone(1500, 10_000),
                            Fault.speed(0, 2),
                            Fault.speed(1, 2),
                            Fault.speed(2, 2),
                            Fault.speed(3, 2)),
                    of(
                            "idle-unequal",
                            "the same, engine 0 twice as fast",
                            4,
                            s -> alone(1500, 10_000),
                            TWICE),
                    of("idle-documents", "one at a time, 60 documents", 4, Complaints::documents),
                    of("bursts", "16 prompts of 32k at once, 1 token out", 4, Complaints::bursts),
                    of(
                            "system-prompt",
                            "8k that all have, 30 a second",
                            4,
                            Complaints::systemPrompt),
                    of(
                            "new-worker",
                            "the first 5 s of a fifth engine",
                            5,
                            s -> newWorker(s, 5),
                            JOINS),
                    of(
                            "new-worker-later",
                            "all time after that",
                            5,
                            s -> newWorker(s, ALWAYS),
                            JOINS),
                    of(
                            "unequal",
                            "engine 0 four times as fast as 1",
                            2,
                            s -> poisson(s, 12, 720, 4000, 200, 0),
                            Fault.speed(0, 4)),
                    of("imbalance", "sessions beside a busy engine", 4, Complaints::imbalance),
                    of(
                            "stuck-worker",
                            "engine 1 stops, and stays in the fleet",
                            4,
                            s -> poisson(s, 10, 700, 2000, 100, STUCK_SECONDS),
                            STUCK),
                    of(
                            "quarter-shared",
                            "sglang #21199: 26 % shared, two engines",
                            2,
                            Complaints::quarterShared,
                            Fault.speed(0, 0.5),
                            Fault.speed(1, 0.5)));

    private Complaints() {}

    private static Scenario of(
            String name, String about, int engines, LongFunction<Workload> draw, Fault... faults) {
        return new Scenario(
                name, about, EngineModel.SMALL, engines, 0, 2000, 1, Arrays.asList(faults), draw);
    }

    private static WorkloadBuilder all() {
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        to.countOnly(0, ALWAYS);
        return to;
    }

    /** The seed changes what policies draw, nothing else. */
    private static Workload alone(double everyMillis, int tokens) {
        WorkloadBuilder to = all();
        for (int i = 0; i < 400; i++) {
            to.addAlone(everyMillis * i, Segments.EMPTY, tokens, 50);
        }
        return to.build();
    }

    /** 60 documents of 10,000 tokens: one and a half times one cache. */
    private static Workload documents(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = all();
        List<Segments> documents = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            documents.add(to.text(156));
        }
        for (int i = 0; i < 600; i++) {
            to.addAlone(1500.0 * i, documents.get(d.random.nextInt(60)), 216, 50);
        }
        return to.build();
    }

    private static Workload bursts(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = all();
        for (int i = 0; i < 48; i++) {
            double millis = Math.floorDiv(i, 16) * 30_000.0 + d.random.nextDouble(100);
            to.addAlone(millis, Segments.EMPTY, 32_768, 1);
        }
        return to.build();
    }

    private static Workload systemPrompt(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = all();
        Segments system = to.text(128);
        double millis = 0;
        for (int i = 0; i < 900; i++) {
            millis += d.exponential(1000.0 / 30);
            to.addAlone(millis, system, 1024, 128);
        }
        return to.build();
    }

    /** Four system prompts, four warm engines, and a fifth one that knows nothing. */
    private static Workload newWorker(long seed, double countedSeconds) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        double from = 1000 * JOIN_SECONDS;
        to.countOnly(countedSeconds < ALWAYS ? from : from + 5000, from + 1000 * countedSeconds);
        List<Segments> systems = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            systems.add(to.text(64));
        }
        double millis = 0;
        for (int i = 0; i < 1500; i++) {
            millis += d.exponential(1000.0 / 30);
            to.addAlone(millis, systems.get(d.random.nextInt(4)), 2048, 200);
        }
        return to.build();
    }

    /** Nothing shared; those count that come from a moment on. */
    private static Workload poisson(
            long seed, double perSecond, int count, int tokens, int answer, double fromSeconds) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        to.countOnly(1000 * fromSeconds, ALWAYS);
        double millis = 0;
        for (int i = 0; i < count; i++) {
            millis += d.exponential(1000 / perSecond);
            to.addAlone(millis, Segments.EMPTY, tokens, answer);
        }
        return to.build();
    }

    /** 32 sessions of eight turns; engine 0 is busy with 48 long answers that others sent there. */
    private static Workload imbalance(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = all();
        for (int i = 0; i < 48; i++) {
            int blocks = (500 + 6000) / BLOCK;
            to.addFor(0, 0, 500, 6000, Segments.EMPTY.ids(blocks, to.newIds(blocks)));
        }
        List<Chain.Turn> turns = new ArrayList<>();
        turns.add(new Chain.Turn(4096, 100, 0));
        for (int i = 1; i < 8; i++) {
            turns.add(new Chain.Turn(1024, 100, 2000));
        }
        for (int i = 0; i < 32; i++) {
            double start = 1000 + d.random.nextDouble(5000);
            Chain.add(to, Segments.EMPTY, turns, start, 100 + i, new int[0]);
        }
        return to.build();
    }

    /**
     * 400 prompts of 9,800 tokens, 2,548 of them alike, 430 out, 3 a second, at most 36 at once.
     */
    private static Workload quarterShared(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = all();
        to.atMostAtOnce(36);
        Segments system = to.text(2548 / BLOCK);
        double millis = 0;
        for (int i = 0; i < 400; i++) {
            millis += d.exponential(1000.0 / 3);
            to.addAlone(millis, system, 9800 - system.tokens(), 430);
        }
        return to.build();
    }
}
