package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.lab.report.Standing;
import java.util.List;
import org.junit.jupiter.api.Test;

class StandingTest {
    private static Result result(String scenario, String policy, long seed, double ttft) {
        Spread s = new Spread(ttft, ttft, ttft, ttft, ttft);
        return new Result(
                scenario, policy, 0.7, seed, 10, s, s, s, 0.5, 1, 0, 1, 1, 1, 1, 10, List.of(), 1,
                List.of());
    }

    @Test
    void ratios_are_means_over_seeds_against_the_best_peer_of_each_scenario() {
        String table =
                new Standing(
                                List.of(
                                        result("chat", "latency", 1, 90),
                                        result("chat", "latency", 2, 110),
                                        result("chat", "llm-d", 1, 200),
                                        result("chat", "smg", 1, 400),
                                        result("hot", "latency", 1, 100),
                                        result("hot", "llm-d", 1, 800),
                                        result("hot", "smg", 1, 50),
                                        result("hot", "random", 1, 1)),
                                "latency")
                        .markdown();
        assertTrue(table.contains("| chat | 100 | 0.50 |"), table);
        assertTrue(table.contains("| hot | 100 | 2.00 |"), table);
        // sqrt(0.5 * 2), sqrt(0.5 / 8), sqrt(2 / 4); random is ours and no peer.
        assertTrue(table.contains("| ratio, geometric mean | | 1.00 | | | 0.25 | 0.71 |"), table);
    }

    @Test
    void without_a_peer_there_is_nothing_to_compare() {
        List<Result> ours = List.of(result("chat", "latency", 1, 90));
        assertEquals("", new Standing(ours, "latency").markdown());
    }
}
