package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.lab.report.Advice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AdviceTest {
    private final List<Result> held = new ArrayList<>();

    private void played(String policy, double... ttfts) {
        for (int i = 0; i < ttfts.length; i++) {
            Spread s = new Spread(ttfts[i], 0, 0, 0, 0);
            held.add(
                    new Result(
                            "x", policy, 1, i + 4, 10, s, s, s, 0.5, 1, 0, 1, 1, 1, 1, 10,
                            List.of(), 1, List.of()));
        }
    }

    private static final Map<String, String> SNIPPETS =
            Map.of("tuned", "warmpath:\n  a: 1\n", "latency", "warmpath:\n  cost: latency\n");

    private String advice() {
        return new Advice(held, "kv", SNIPPETS, "mean TTFT", Tune.Goal.TTFT::of).text();
    }

    private void assertKeeps(String why) {
        String last = advice().lines().toList().getLast();
        assertTrue(last.startsWith("keep kv: the best of the others, "), advice());
        assertTrue(last.endsWith(why + "."), advice());
        assertFalse(advice().contains("warmpath:") || advice().contains("# "), advice());
    }

    @Test
    void a_gain_above_the_spread_ends_with_the_yaml_and_the_gain() {
        played("tuned", 80, 161, 119);
        played("kv", 100, 200, 150);
        assertTrue(advice().contains("\n  tuned      -20.1 % +- 1.8 %\n"), advice());
        assertTrue(
                advice().endsWith(
                                """


                                # -20.1 % +- 1.8 % mean TTFT against kv, 3 seeds, held back
                                warmpath:
                                  a: 1
                                """),
                advice());
        assertFalse(advice().contains("keep"), advice());
    }

    @Test
    void a_gain_within_the_spread_is_no_reason_to_change_anything() {
        played("tuned", 80, 220, 120);
        played("kv", 100, 200, 150);
        assertKeeps(
                "mean TTFT by -11.0 % +- 45.6 % (3 seeds, held back), which is within the"
                        + " spread over seeds");
    }

    @Test
    void a_loss_a_trifle_and_a_single_seed_are_told_apart() {
        played("tuned", 120, 240, 180);
        played("kv", 100, 200, 150);
        assertKeeps("which is no gain");
        held.clear();
        played("tuned", 99.5, 199, 149.25);
        played("kv", 100, 200, 150);
        assertKeeps("which is less than 1 %");
        held.clear();
        played("tuned", 50);
        played("kv", 100);
        assertKeeps("and one seed tells no spread, ask for more (--seeds)");
    }

    @Test
    void a_preset_that_is_better_than_what_was_found_is_the_answer() {
        played("tuned", 80, 161, 119);
        played("kv", 100, 200, 150);
        played("latency", 70, 141, 104);
        assertTrue(advice().contains("\n# -30"), advice());
        assertTrue(advice().endsWith("held back\nwarmpath:\n  cost: latency\n"), advice());
        assertFalse(advice().contains("a: 1"), advice());
    }

    @Test
    void a_preset_that_is_better_by_chance_alone_is_not() {
        played("tuned", 80, 161, 119);
        played("kv", 100, 200, 150);
        played("latency", 70, 171, 119);
        assertTrue(advice().endsWith("\nwarmpath:\n  a: 1\n"), advice());
    }
}
