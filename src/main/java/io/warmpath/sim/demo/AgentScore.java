package io.warmpath.sim.demo;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * A play of the agents in numbers.
 *
 * @param median time to first token of the agents' turns from the second on
 * @param p90 of the same turns
 * @param cached share of their prompt tokens that the engines had cached
 * @param lead median of the leads' turn, by its number from 0 on
 * @param background median of everybody else's requests
 */
record AgentScore(
        Duration median,
        Duration p90,
        double cached,
        List<Duration> lead,
        Duration background,
        int turns) {
    static AgentScore of(List<AgentPlay.Turn> turns, int leadTurns) {
        List<AgentPlay.Turn> later =
                turns.stream()
                        .filter(t -> t.who() != AgentPlay.Who.BACKGROUND && t.number() > 0)
                        .toList();
        long prompt = later.stream().mapToLong(t -> t.played().promptTokens()).sum();
        long cached = later.stream().mapToLong(t -> t.played().reportedTokens()).sum();
        return new AgentScore(
                part(later, 0.5, t -> true),
                part(later, 0.9, t -> true),
                (double) cached / prompt,
                IntStream.range(0, leadTurns)
                        .mapToObj(
                                n ->
                                        part(
                                                turns,
                                                0.5,
                                                t ->
                                                        t.who() == AgentPlay.Who.LEAD
                                                                && t.number() == n))
                        .toList(),
                part(turns, 0.5, t -> t.who() == AgentPlay.Who.BACKGROUND),
                later.size());
    }

    /** The value that this part of them stays at or below. */
    private static Duration part(
            List<AgentPlay.Turn> turns, double part, Predicate<AgentPlay.Turn> which) {
        List<Duration> sorted =
                turns.stream()
                        .filter(which)
                        .map(t -> t.played().timeToFirstToken())
                        .sorted()
                        .toList();
        return sorted.get((int) Math.ceil(sorted.size() * part) - 1);
    }
}
