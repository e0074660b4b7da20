package io.warmpath.sim.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * The scripted workload: several people ask the same assistant about documents of their own, turn
 * after turn. The same seed gives the same script. Immutable.
 *
 * <p>All share the system prompt; each brings a document in the first question. A round is one turn
 * of every conversation, in an order that changes, so that round-robin is neither helped nor hurt
 * by a pattern.
 */
final class Workload {
    private static final String[] TOPICS = {
        "the old harbour", "a lighthouse", "the river bridge", "the town library", "a paper mill",
        "the botanical garden", "an observatory", "the night train", "a glass workshop",
                "the salt mine"
    };
    private static final String[] PEOPLE = {
        "the keeper",
        "a visitor",
        "the engineer",
        "the mayor",
        "a painter",
        "the archivist",
        "a child",
        "the captain",
        "a gardener",
        "the watchmaker"
    };
    private static final String[] DEEDS = {
        "repaired",
        "measured",
        "described",
        "painted",
        "closed",
        "opened",
        "counted",
        "moved",
        "cleaned",
        "photographed"
    };
    private static final String[] THINGS = {
        "the main gate", "an iron door", "the northern wall", "a wooden stair", "the great clock",
        "the water pump", "a row of lamps", "the upper windows", "the stone floor", "a copper roof"
    };
    private static final String[] TIMES = {
        "in early spring", "before the storm", "after the long winter", "on a quiet morning",
        "during the festival", "late in the evening", "in the second year", "before the war",
        "at the end of summer", "on the first day of school"
    };
    private static final String[] QUESTIONS = {
        "What happened first, and who took part in it?",
        "Please sum up what we know so far in a few sentences.",
        "Which part of this is the least certain, and why do you think so?",
        "How would you explain this to a class of ten-year-old children?",
        "What should I look at when I visit the place myself?",
        "Compare this with what you told me before.",
        "Write a short note about it that I can send to a friend."
    };
    private static final int RULES = 12;
    private static final int DOCUMENT_SENTENCES = 55;
    private static final int SHORTEST_ANSWER = 16;
    private static final int LONGEST_ANSWER = 48;

    /**
     * One turn.
     *
     * @param maxTokens length of the answer
     */
    record Turn(int conversation, int number, String question, int maxTokens) {}

    private final String systemPrompt;
    private final List<List<Turn>> rounds = new ArrayList<>();

    Workload(int conversations, int turns, long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        systemPrompt = systemPrompt(random);
        for (int t = 0; t < turns; t++) {
            List<Turn> round = new ArrayList<>();
            for (int c = 0; c < conversations; c++) {
                String question =
                        t == 0
                                ? document(random) + "\n\n" + pick(random, QUESTIONS)
                                : pick(random, QUESTIONS) + " " + sentence(random);
                int length = random.nextInt(SHORTEST_ANSWER, LONGEST_ANSWER + 1);
                round.add(new Turn(c, t, question, length));
            }
            shuffle(round, random);
            rounds.add(List.copyOf(round));
        }
    }

    String systemPrompt() {
        return systemPrompt;
    }

    /** Turns in the order in which they start. */
    List<List<Turn>> rounds() {
        return rounds;
    }

    static String systemPrompt(RandomGenerator random) {
        StringBuilder text =
                new StringBuilder("You are the guide of a small museum of local history.\n");
        for (int i = 1; i <= RULES; i++) {
            text.append("Rule ")
                    .append(i)
                    .append(": when somebody asks about ")
                    .append(pick(random, TOPICS))
                    .append(", tell how ")
                    .append(pick(random, PEOPLE))
                    .append(' ')
                    .append(pick(random, DEEDS))
                    .append(' ')
                    .append(pick(random, THINGS))
                    .append(".\n");
        }
        return text.toString();
    }

    private static String document(RandomGenerator random) {
        return document(random, DOCUMENT_SENTENCES);
    }

    /** Some 18 tokens a sentence. */
    static String document(RandomGenerator random, int sentences) {
        StringBuilder text =
                new StringBuilder("Here is what I found about ")
                        .append(pick(random, TOPICS))
                        .append(". ");
        for (int i = 0; i < sentences; i++) {
            text.append(sentence(random)).append(' ');
        }
        return text.toString().strip();
    }

    static String sentence(RandomGenerator random) {
        String who = pick(random, PEOPLE);
        return Character.toUpperCase(who.charAt(0))
                + who.substring(1)
                + " "
                + pick(random, DEEDS)
                + " "
                + pick(random, THINGS)
                + " of "
                + pick(random, TOPICS)
                + " "
                + pick(random, TIMES)
                + ".";
    }

    private static String pick(RandomGenerator random, String[] from) {
        return from[random.nextInt(from.length)];
    }

    private static void shuffle(List<Turn> turns, RandomGenerator random) {
        for (int i = turns.size() - 1; i > 0; i--) {
            Turn swap = turns.get(i);
            int j = random.nextInt(i + 1);
            turns.set(i, turns.get(j));
            turns.set(j, swap);
        }
    }
}
