package io.warmpath.sim.demo;

import java.util.random.RandomGenerator;

/** Made-up text in plain English, of which no two pieces are alike for long. Stateless. */
final class Phrases {
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
    private static final String[] TOWNS = {
        "Aldermouth", "Brightwater", "Cairnholm", "Dunmere", "Eastfen", "Fallowby", "Greyhaven"
    };
    private static final int RULES = 12;

    private Phrases() {}

    /** Some 430 tokens: who the assistant is, and its rules. */
    static String systemPrompt(RandomGenerator random, int number) {
        StringBuilder text = new StringBuilder("You are the guide of the museum of ");
        text.append(TOWNS[number % TOWNS.length])
                .append(", room ")
                .append(number + 1)
                .append(".\n");
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

    static String question(RandomGenerator random) {
        return pick(random, QUESTIONS);
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
}
