package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.lab.report.SplitStanding;
import java.util.List;
import org.junit.jupiter.api.Test;

class SplitStandingTest {
    private static Result result(String policy, double ttft, double p99, double itl, double good) {
        Spread first = new Spread(ttft, ttft, ttft, p99, p99);
        Spread between = new Spread(itl, itl, itl, itl, itl);
        return new Result(
                "chat", policy, 0.5, 1, 10, first, between, first, 0.5, 1, 0, 1, good, 1, 1, 10,
                List.of(), 1, List.of());
    }

    @Test
    void each_measure_is_compared_with_whoever_is_best_in_it() {
        List<Result> results =
                List.of(
                        result("latency", 100, 900, 20, 4),
                        result("pair=4", 90, 990, 20, 5),
                        result("pair=2", 1, 1, 1, 100), // ours, too: not compared
                        result("smg-pd=4", 300, 1000, 10, 2));
        String table = new SplitStanding(results, "pair=4").markdown();
        String row =
                "| chat | 0.900 | latency | 1.100 | latency | 2.000 | smg-pd=4 | 0.800 | latency |";
        assertTrue(table.contains(row), table);
    }

    @Test
    void where_nobody_keeps_the_limits_there_is_no_ratio() {
        List<Result> results =
                List.of(result("latency", 100, 900, 20, 0), result("pair=4", 90, 990, 20, 0));
        String table = new SplitStanding(results, "pair=4").markdown();
        assertTrue(table.endsWith("| 1.000 | latency | - | nobody |\n\n"), table);
    }

    @Test
    void a_policy_that_splits_nothing_has_no_such_table() {
        List<Result> results =
                List.of(result("latency", 100, 900, 20, 4), result("smg", 300, 1000, 10, 2));
        assertEquals("", new SplitStanding(results, "latency").markdown());
    }
}
