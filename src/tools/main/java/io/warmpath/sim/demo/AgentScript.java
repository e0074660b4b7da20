package io.warmpath.sim.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * What agents and others ask: teams of a lead agent and the sub-agents that it calls as tools, and
 * short-lived background requests that push out of the caches what nobody protects. The same seed
 * gives the same script. Immutable. All agents share the tools' description. A lead reads a long
 * document first; each of its turns but the last one calls a sub-agent with a document of its own,
 * which has some turns and dies.
 */
final class AgentScript {
    private static final int TOOLS = 12;
    private static final int LEAD_SENTENCES = 60;
    private static final int SUB_SENTENCES = 40;
    private static final int BACKGROUND_SENTENCES = 50;
    private static final int BACKGROUND_REQUESTS = 400;

    /** What one agent asks, turn after turn. */
    record Agent(List<String> questions) {}

    /** {@code subs}: one less than the lead has turns. */
    record Team(Agent lead, List<Agent> subs) {}

    private final String tools;
    private final List<Team> teams = new ArrayList<>();
    private final List<String> background = new ArrayList<>();
    private final List<Double> gaps = new ArrayList<>();

    AgentScript(int teams, int leadTurns, int subTurns, long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        StringBuilder text = new StringBuilder(Phrases.systemPrompt(random, 0));
        for (int i = 0; i < TOOLS; i++) {
            text.append("Tool ").append(i + 1).append(" tells that ");
            text.append(Phrases.sentence(random)).append('\n');
        }
        tools = text.toString();
        for (int t = 0; t < teams; t++) {
            List<Agent> subs = new ArrayList<>();
            for (int s = 1; s < leadTurns; s++) {
                subs.add(agent(random, SUB_SENTENCES, subTurns));
            }
            this.teams.add(new Team(agent(random, LEAD_SENTENCES, leadTurns), List.copyOf(subs)));
        }
        for (int b = 0; b < BACKGROUND_REQUESTS; b++) {
            background.add(Phrases.document(random, BACKGROUND_SENTENCES));
            gaps.add(random.nextExponential());
        }
    }

    private static Agent agent(RandomGenerator random, int sentences, int turns) {
        List<String> questions = new ArrayList<>();
        questions.add(Phrases.document(random, sentences));
        while (questions.size() < turns) {
            questions.add("What the tool found: " + Phrases.sentence(random));
        }
        return new Agent(List.copyOf(questions));
    }

    /** Every agent's system prompt. */
    String tools() {
        return tools;
    }

    List<Team> teams() {
        return teams;
    }

    /** Time from background request n, from 0, to the next one; 1 on average. */
    double gap(int n) {
        return gaps.get(n % gaps.size());
    }

    /** Turns of all agents. */
    int turns() {
        return teams.stream()
                .mapToInt(
                        t ->
                                t.lead().questions().size()
                                        + t.subs().stream()
                                                .mapToInt(s -> s.questions().size())
                                                .sum())
                .sum();
    }

    /** Prompts that nobody asks twice. */
    List<String> background() {
        return background;
    }
}
