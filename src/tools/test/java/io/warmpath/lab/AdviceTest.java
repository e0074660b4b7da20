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
            Spread s = new Spread(ttfts[i], 0, 0, 0);
            held.add(
                    new Result(
                            "x", policy, 1, i + 4, 10, s, s, s, 0.5, 1, 0, 1, 10, List.of(), 1,
                            List.of()));
        }
    }

    private String advice() {
        return new Advice(
                        held, "tuned", "kv", Map.of("latency", "cost=latency"), Tune.Goal.TTFT::of)
                .text(List.of("a=1", "b=2"));
    }

    @Test
    void a_gain_above_the_spread_names_the_keys_to_set() {
        played("tuned", 80, 161, 119);
        played("kv", 100, 200, 150);
        assertTrue(advice().contains("tuned       -20.1 % +- 1"), advice());
        assertTrue(advice().contains("\nSet\n  a=1\n  b=2\n"), advice());
        assertFalse(advice().contains("Keep"), advice());
    }

    @Test
    void a_gain_within_the_spread_is_no_reason_to_change_anything() {
        played("tuned", 80, 220, 120);
        played("kv", 100, 200, 150);
        assertTrue(advice().contains("Keep what you have: the difference"), advice());
        assertTrue(advice().contains("for the record\n  a=1"), advice());
    }

    @Test
    void a_loss_a_trifle_and_a_single_seed_are_told_apart() {
        played("tuned", 120, 240, 180);
        played("kv", 100, 200, 150);
        assertTrue(advice().contains("is worse on the held-back part"), advice());
        held.clear();
        played("tuned", 99.5, 199, 149.25);
        played("kv", 100, 200, 150);
        assertTrue(advice().contains("is less than 1 %"), advice());
        held.clear();
        played("tuned", 50);
        played("kv", 100);
        assertTrue(advice().contains("one seed tells no spread"), advice());
    }

    @Test
    void a_preset_that_is_better_than_the_advice_is_named() {
        played("tuned", 80, 161, 119);
        played("kv", 100, 200, 150);
        played("latency", 70, 141, 104);
        assertTrue(advice().contains("Better still by 12"), advice());
        assertTrue(advice().contains("without a search: cost=latency"), advice());
    }
}
