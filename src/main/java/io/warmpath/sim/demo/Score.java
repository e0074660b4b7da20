package io.warmpath.sim.demo;

import java.time.Duration;
import java.util.List;

/**
 * One run in numbers.
 *
 * @param hitRate cached share of all prompt tokens, as the engines reported it
 */
record Score(Duration meanTtft, Duration p95Ttft, double hitRate, int asPredicted, int turns) {
    static Score of(List<Played> run) {
        List<Duration> sorted = run.stream().map(Played::timeToFirstToken).sorted().toList();
        Duration sum = sorted.stream().reduce(Duration.ZERO, Duration::plus);
        int p95 = (int) Math.ceil(sorted.size() * 0.95) - 1;
        long prompt = run.stream().mapToLong(Played::promptTokens).sum();
        long cached = run.stream().mapToLong(Played::reportedTokens).sum();
        return new Score(
                sum.dividedBy(sorted.size()),
                sorted.get(p95),
                (double) cached / prompt,
                (int) run.stream().filter(Played::asPredicted).count(),
                run.size());
    }
}
