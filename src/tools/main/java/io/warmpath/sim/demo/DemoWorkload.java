package io.warmpath.sim.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * The scripted workload: people who come by chance and ask one of several assistants, turn after
 * turn, about pages that they bring. The same seed gives the same script. Immutable. Conversations
 * begin as a Poisson process does; between two turns of one lie a short fixed pause, in which the
 * answer is read, and an exponential one. Each turn brings a page of its own, so that prompts grow
 * and most of each is what the turn before it was.
 */
final class DemoWorkload {
    private static final int PAGE_SENTENCES = 14;
    private static final int SHORTEST_ANSWER = 16;
    private static final int LONGEST_ANSWER = 40;

    /** Longer than an answer takes on an engine that is not busy. */
    private static final double READING_SECONDS = 0.5;

    /** Part of the time in which conversations begin; they go on in the rest. */
    private static final double BEGINNINGS = 0.5;

    /** One turn. {@code maxTokens}: length of the answer. */
    record Turn(int conversation, int number, String question, int maxTokens) {}

    /**
     * One conversation. {@code at}: when each of its turns starts, from the start of the play;
     * later if the answer before it has not ended.
     */
    record Conversation(String systemPrompt, List<Turn> turns, List<Duration> at) {}

    private final List<Conversation> conversations = new ArrayList<>();
    private final int turns;

    /**
     * @param prompts system prompts, which conversations take in turn
     * @param perSecond turns that start in a second, on average
     */
    DemoWorkload(int conversations, int turns, int prompts, double perSecond, long seed) {
        this.turns = conversations * turns;
        RandomGenerator random = new SplittableRandom(seed);
        List<String> systemPrompts = new ArrayList<>();
        for (int p = 0; p < prompts; p++) {
            systemPrompts.add(Phrases.systemPrompt(random, p));
        }
        double seconds = this.turns / perSecond;
        double gap = seconds * BEGINNINGS / conversations;
        double pause = Math.max(0, seconds * (1 - BEGINNINGS) / turns - READING_SECONDS);
        double begin = 0;
        for (int c = 0; c < conversations; c++) {
            begin += exponential(random, gap);
            double at = begin;
            List<Turn> script = new ArrayList<>();
            List<Duration> times = new ArrayList<>();
            for (int t = 0; t < turns; t++) {
                at += t == 0 ? 0 : READING_SECONDS + exponential(random, pause);
                String question =
                        Phrases.document(random, PAGE_SENTENCES)
                                + "\n\n"
                                + Phrases.question(random);
                int length = random.nextInt(SHORTEST_ANSWER, LONGEST_ANSWER + 1);
                script.add(new Turn(c, t, question, length));
                times.add(Duration.ofNanos((long) (at * 1e9)));
            }
            this.conversations.add(
                    new Conversation(
                            systemPrompts.get(c % prompts),
                            List.copyOf(script),
                            List.copyOf(times)));
        }
    }

    /** In the order in which they begin. */
    List<Conversation> conversations() {
        return conversations;
    }

    /** Of all conversations together. */
    int turns() {
        return turns;
    }

    private static double exponential(RandomGenerator random, double mean) {
        return random.nextExponential() * mean;
    }
}
