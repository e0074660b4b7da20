package io.warmpath.routing.scenario;

import io.warmpath.routing.scenario.Prompt.Part;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.IntFunction;

/** The workloads, one for each complaint. Times are milliseconds of virtual time. */
final class Scenarios {
    /** When the worker of {@link #newWorker} joins. */
    static final double JOIN_MILLIS = 20_000;

    /** When worker 1 of {@link #stuckWorker} stops. */
    static final double STUCK_MILLIS = 10_000;

    /** Of the two workers of {@link #quarterShared}: at it round-robin's times are as reported. */
    private static final double QUARTER_SPEED = 0.5;

    private Scenarios() {}

    /** One request at a time, each of them new, on an idle fleet. */
    static Outcome equalScores(Setting setting, long seed) {
        Lab lab = new Lab(setting, seed).withWorkers(4);
        int requests = 400;
        for (int i = 0; i < requests; i++) {
            Prompt prompt = fresh(lab, 1_000, 50);
            lab.time.after(800.0 * i, () -> lab.send(prompt));
        }
        return lab.play(800.0 * requests + 10_000);
    }

    /**
     * One at a time, each new, on engines twice as fast as the priors say; long ones, so that much
     * is learnt.
     */
    static Outcome fasterThanThought(Setting setting, long seed) {
        Lab lab = new Lab(setting, seed);
        for (int i = 0; i < 4; i++) {
            lab.addWorker(2);
        }
        return oneAtATime(lab, 10_000);
    }

    /** One at a time, each new; worker 0 is twice as fast as the other three. */
    static Outcome idleUnequal(Setting setting, long seed) {
        Lab lab = new Lab(setting, seed);
        lab.addWorker(2);
        for (int i = 0; i < 3; i++) {
            lab.addWorker(1);
        }
        return oneAtATime(lab, 10_000);
    }

    private static Outcome oneAtATime(Lab lab, int tokens) {
        int requests = 400;
        for (int i = 0; i < requests; i++) {
            Prompt prompt = fresh(lab, tokens, 50);
            lab.time.after(1_500.0 * i, () -> lab.send(prompt));
        }
        return lab.play(1_500.0 * requests + 10_000);
    }

    /** One at a time, over 60 documents of 10,000 tokens: one and a half times one cache. */
    static Outcome idleDocuments(Setting setting, long seed) {
        Lab lab = new Lab(setting, seed).withWorkers(4);
        long[] documents = lab.random.longs(60).toArray();
        for (int i = 0; i < 600; i++) {
            Part document = new Part(documents[lab.random.nextInt(60)], 10_000);
            Prompt prompt = withSystem(lab, document, 200, 50);
            lab.time.after(1_500.0 * i, () -> lab.send(prompt));
        }
        return lab.play(1_000_000);
    }

    /** Three bursts of 16 prompts of 32,768 tokens, one token each to answer. */
    static Outcome bursts(Setting setting, long seed) {
        Lab lab = new Lab(setting, seed).withWorkers(4);
        for (int burst = 0; burst < 3; burst++) {
            for (int i = 0; i < 16; i++) {
                Prompt prompt = fresh(lab, 32_768, 1);
                double at = 30_000.0 * burst + lab.random.nextDouble(100);
                lab.time.after(at, () -> lab.send(prompt));
            }
        }
        return lab.play(200_000);
    }

    /** Everybody has the same 8,192 tokens in front; twice as much as one worker can serve. */
    static Outcome systemPrompt(Setting setting, long seed) {
        Lab lab = new Lab(setting, seed).withWorkers(4);
        Part system = new Part(seed, 8_192);
        poisson(lab, 30, 900, i -> withSystem(lab, system, 1_024, 128));
        return lab.play(300_000);
    }

    /** Four system prompts, four warm workers, and a fifth one that knows nothing. */
    static Outcome newWorker(Setting setting, long seed) {
        Lab lab = new Lab(setting, seed).withWorkers(4);
        poisson(
                lab,
                30,
                1_500,
                i -> withSystem(lab, new Part(lab.random.nextInt(4), 4_096), 2_048, 200));
        lab.time.after(JOIN_MILLIS, () -> lab.addWorker(1));
        return lab.play(300_000).sentSince(JOIN_MILLIS);
    }

    /** Worker 0 is four times as fast as worker 1. */
    static Outcome unequalWorkers(Setting setting, long seed) {
        Lab lab = new Lab(setting, seed);
        lab.addWorker(4);
        lab.addWorker(1);
        poisson(lab, 12, 720, i -> fresh(lab, 4_000, 200));
        return lab.play(300_000);
    }

    /**
     * 32 conversations of eight turns, while worker 0 is busy with 48 long answers that others have
     * sent there.
     */
    static Outcome imbalance(Setting setting, long seed) {
        Lab lab = new Lab(setting, seed).withWorkers(4);
        for (int i = 0; i < 48; i++) {
            lab.pin(fresh(lab, 500, 6_000), 0);
        }
        for (int i = 0; i < 32; i++) {
            Prompt first = fresh(lab, 4_096, 100);
            lab.time.after(1_000 + lab.random.nextDouble(5_000), () -> turn(lab, first, 8));
        }
        return lab.play(300_000);
    }

    private static void turn(Lab lab, Prompt prompt, int left) {
        Runnable next =
                () -> {
                    Part question = new Part(lab.random.nextLong(), 1_024);
                    Prompt more = prompt.next(question, 100, lab.random.nextLong());
                    lab.time.after(2_000, () -> turn(lab, more, left - 1));
                };
        lab.send(prompt, left > 1 ? next : () -> {});
    }

    /** Worker 1 stops answering without a word, and stays in the fleet. */
    static Outcome stuckWorker(Setting setting, long seed) {
        Lab lab = new Lab(setting, seed).withWorkers(4);
        poisson(lab, 10, 700, i -> fresh(lab, 2_000, 100));
        lab.time.after(STUCK_MILLIS, () -> lab.engine(1).stick());
        return lab.play(120_000);
    }

    /**
     * sglang #21199: 400 prompts of 9,800 tokens whose first 2,548 are the same, 430 tokens to
     * answer, 3 a second, at most 36 at once, on two workers.
     */
    static Outcome quarterShared(Setting setting, long seed) {
        Lab lab = new Lab(setting, seed);
        lab.addWorker(QUARTER_SPEED);
        lab.addWorker(QUARTER_SPEED);
        Part system = new Part(seed, 2_548);
        Deque<Prompt> queue = new ArrayDeque<>();
        int[] atOnce = {0};
        Runnable[] pump = {() -> {}};
        pump[0] =
                () -> {
                    while (atOnce[0] < 36 && !queue.isEmpty()) {
                        atOnce[0]++;
                        lab.send(
                                queue.removeFirst(),
                                () -> {
                                    atOnce[0]--;
                                    pump[0].run();
                                });
                    }
                };
        double at = 0;
        for (int i = 0; i < 400; i++) {
            at += gap(lab, 3);
            Prompt prompt = withSystem(lab, system, 7_252, 430);
            lab.time.after(
                    at,
                    () -> {
                        queue.add(prompt);
                        pump[0].run();
                    });
        }
        return lab.play(600_000);
    }

    private static Prompt fresh(Lab lab, int tokens, int answer) {
        return Prompt.of(answer, lab.random.nextLong(), new Part(lab.random.nextLong(), tokens));
    }

    private static Prompt withSystem(Lab lab, Part system, int own, int answer) {
        Part part = new Part(lab.random.nextLong(), own);
        return Prompt.of(answer, lab.random.nextLong(), system, part);
    }

    private static void poisson(Lab lab, double perSecond, int count, IntFunction<Prompt> make) {
        double at = 0;
        for (int i = 0; i < count; i++) {
            at += gap(lab, perSecond);
            Prompt prompt = make.apply(i);
            lab.time.after(at, () -> lab.send(prompt));
        }
    }

    private static double gap(Lab lab, double perSecond) {
        return -1000 * Math.log(1 - lab.random.nextDouble()) / perSecond;
    }
}
