package io.warmpath.lab.workload;

import io.warmpath.sim.virtual.EngineModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleConsumer;
import java.util.function.LongFunction;
import java.util.stream.IntStream;

/**
 * Workloads on which the cost {@code latency} was seen to lose more than a tenth to a simpler rule.
 * Fleets of the 8B model; load 1 is the highest rate that was looked at, in requests a second.
 */
public final class Weaknesses {
    private static final int BLOCK = 64;
    private static final int FLEET = 8;

    /** Of a conversation of {@code few-talks}. */
    private static final int TURNS = 6;

    /** Priors are wrong by this factor, either way. */
    private static final double WRONG = 10;

    public static final List<Scenario> ALL =
            List.of(
                    of(
                            "long-among-tiny",
                            "70 % tiny prompts, 30 % of 9k, 900 out, nothing shared",
                            50,
                            s -> mixed(s, 9000, 0.3, 9000, 900)),
                    of("one-prompt", "95 % have one prompt of 4k", 45, Weaknesses::onePrompt),
                    of(
                            "long-answers",
                            "tiny prompts, 1,600 out",
                            50,
                            s -> mixed(s, 9000, 0, 0, 1600)),
                    of(
                            "priors-slow",
                            "nothing shared, engines 10 times as fast as the priors",
                            200,
                            s -> mixed(s, 16_000, 1, 4000, 200),
                            all(WRONG)),
                    of(
                            "priors-fast",
                            "nothing shared, engines 10 times as slow as the priors",
                            2,
                            s -> mixed(s, 1600, 1, 4000, 200),
                            all(1 / WRONG)),
                    new Scenario(
                            "slow-tenth",
                            "long answers, one engine of ten 10 times slower",
                            EngineModel.SMALL,
                            10,
                            0,
                            2000,
                            20,
                            List.of(Fault.speed(0, 1 / WRONG)),
                            s -> mixed(s, 4000, 1, 1000, 800)),
                    of("tiny", "3,000 prompts of 50 tokens a second", 3000, Weaknesses::tiny),
                    new Scenario(
                            "few-talks",
                            "5 to 16 conversations, one system prompt, four engines",
                            EngineModel.SMALL,
                            4,
                            0,
                            2000,
                            0.5,
                            List.of(),
                            Weaknesses::fewTalks));

    private Weaknesses() {}

    private static Scenario of(
            String name,
            String about,
            double perSecond,
            LongFunction<Workload> draw,
            Fault... faults) {
        return new Scenario(
                name,
                about,
                EngineModel.SMALL,
                FLEET,
                0,
                2000,
                perSecond,
                Arrays.asList(faults),
                draw);
    }

    private static Fault[] all(double speed) {
        return IntStream.range(0, FLEET)
                .mapToObj(engine -> Fault.speed(engine, speed))
                .toArray(Fault[]::new);
    }

    /** One a second on average, each by {@code request}, which gets its time in milliseconds. */
    private static Workload poisson(
            Draws d, WorkloadBuilder to, int count, DoubleConsumer request) {
        double millis = 0;
        for (int i = 0; i < count; i++) {
            millis += d.exponential(1000);
            request.accept(millis);
        }
        return to.build();
    }

    /** Nothing shared; a part of the prompts is long, the others have some words. */
    private static Workload mixed(long seed, int count, double longPart, int longTokens, int out) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        return poisson(
                d,
                to,
                count,
                millis -> {
                    boolean isLong = d.random.nextDouble() < longPart;
                    int tokens =
                            isLong
                                    ? d.length(longTokens, 0.3, 200, 4 * longTokens)
                                    : d.length(100, 0.5, 20, 400);
                    int answer = d.length(out, 0.4, 10, 4 * out);
                    to.addAlone(millis, Segments.EMPTY, tokens, answer);
                });
    }

    private static Workload onePrompt(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        Segments prompt = to.text(4096 / BLOCK);
        return poisson(
                d,
                to,
                9000,
                millis -> {
                    boolean alike = d.random.nextDouble() < 0.95;
                    int own = alike ? d.length(60, 0.5, 10, 300) : d.length(4096, 0.3, 200, 12_000);
                    int answer = d.length(300, 0.4, 20, 1200);
                    to.addAlone(millis, alike ? prompt : Segments.EMPTY, own, answer);
                });
    }

    private static Workload tiny(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        return poisson(
                d,
                to,
                60_000,
                millis -> to.addAlone(millis, Segments.EMPTY, d.length(50, 0.4, 5, 200), 2));
    }

    /** Starts at one conversation a second, of six turns with pauses: 0.5 keeps about ten going. */
    private static Workload fewTalks(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        Segments system = to.text(1536 / BLOCK);
        return poisson(
                d,
                to,
                300,
                millis -> {
                    List<Chain.Turn> turns = new ArrayList<>();
                    for (int turn = 0; turn < TURNS; turn++) {
                        int in = d.length(200, 0.5, 20, 1000);
                        int out = d.length(120, 0.4, 20, 500);
                        int pause = turn == 0 ? 0 : d.length(2000, 0.5, 200, 8000);
                        turns.add(new Chain.Turn(in, out, pause));
                    }
                    Chain.add(to, system, turns, millis, to.size() / TURNS + 1, new int[0]);
                });
    }
}
