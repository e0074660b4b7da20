package io.warmpath.sim.demo;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * A play of the agents in numbers.
 *
 * @param later the agents' turns from the second on
 * @param all everybody's
 * @param lead median time to first token of the leads' turn, by its number from 0 on
 * @param others median of everybody else's requests
 */
record AgentScore(StageRun later, StageRun all, List<Duration> lead, Duration others) {
    static AgentScore of(String name, int engines, List<AgentPlay.Turn> turns, int leadTurns) {
        return new AgentScore(
                new StageRun(
                        name,
                        engines,
                        played(turns, t -> t.who() != AgentPlay.Who.BACKGROUND && t.number() > 0)),
                new StageRun(name, engines, played(turns, t -> true)),
                IntStream.range(0, leadTurns)
                        .mapToObj(
                                n ->
                                        median(
                                                turns,
                                                t ->
                                                        t.who() == AgentPlay.Who.LEAD
                                                                && t.number() == n))
                        .toList(),
                median(turns, t -> t.who() == AgentPlay.Who.BACKGROUND));
    }

    private static Duration median(List<AgentPlay.Turn> turns, Predicate<AgentPlay.Turn> which) {
        return StageScore.of(played(turns, which)).p50Ttft();
    }

    private static List<Played> played(
            List<AgentPlay.Turn> turns, Predicate<AgentPlay.Turn> which) {
        return turns.stream()
                .filter(which)
                .map(AgentPlay.Turn::played)
                .sorted(Played.BY_TIME)
                .toList();
    }
}
