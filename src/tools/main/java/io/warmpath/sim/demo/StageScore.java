package io.warmpath.sim.demo;

import java.time.Duration;
import java.util.List;

/**
 * One run in numbers.
 *
 * @param hitRate cached share of all prompt tokens, as the engines reported it
 */
record StageScore(
        int turns, double hitRate, Duration meanTtft, Duration p50Ttft, Duration p95Ttft) {
    /** {@code run}: not empty. */
    static StageScore of(List<Played> run) {
        List<Duration> sorted = run.stream().map(Played::timeToFirstToken).sorted().toList();
        Duration sum = sorted.stream().reduce(Duration.ZERO, Duration::plus);
        long prompt = run.stream().mapToLong(Played::promptTokens).sum();
        long cached = run.stream().mapToLong(Played::reportedTokens).sum();
        return new StageScore(
                run.size(),
                (double) cached / prompt,
                sum.dividedBy(sorted.size()),
                part(sorted, 0.5),
                part(sorted, 0.95));
    }

    /** The value that this part of them stays at or below. */
    static Duration part(List<Duration> sorted, double part) {
        return sorted.get((int) Math.ceil(sorted.size() * part) - 1);
    }
}
