package io.warmpath.lab.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The workloads on which the cost {@code latency} lost are what their descriptions say. */
class WeaknessesTest {
    private static Workload draw(String name) {
        return Scenarios.find(name).orElseThrow().draw().apply(1);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "long-among-tiny, 2760, 900",
        "one-prompt, 4150, 300",
        "long-answers, 100, 1600",
        "priors-slow, 4000, 200",
        "priors-fast, 4000, 200",
        "slow-tenth, 1000, 800",
        "tiny, 50, 2"
    })
    void lengths_are_those_described_and_starts_come_at_one_a_second(
            String name, double prompt, double answer) {
        Workload w = draw(name);
        assertEquals(prompt, w.meanPrompt(), 0.1 * prompt);
        assertEquals(answer, w.meanAnswer(), 0.1 * answer);
        double last = Arrays.stream(w.startMillis()).max().orElseThrow();
        assertEquals(1000, last / w.size(), 60);
    }

    @Test
    void three_of_ten_prompts_among_tiny_ones_are_long() {
        Workload w = draw("long-among-tiny");
        long few = Arrays.stream(w.prompt()).filter(p -> p > 1000).count();
        assertEquals(0.3, (double) few / w.size(), 0.02);
    }

    @Test
    void nineteen_of_twenty_begin_alike_and_the_others_with_nothing_known() {
        Workload w = draw("one-prompt");
        Map<Integer, Integer> firsts = new HashMap<>();
        for (int[] blocks : w.blocks()) {
            firsts.merge(blocks[0], 1, Integer::sum);
        }
        int most = firsts.values().stream().mapToInt(n -> n).max().orElseThrow();
        assertEquals(0.95, (double) most / w.size(), 0.01);
        assertEquals(w.size() - most, firsts.size() - 1);
    }

    @Test
    void wrong_priors_are_engines_that_are_all_faster_or_slower() {
        for (String name : new String[] {"priors-slow", "priors-fast"}) {
            Scenario s = Scenarios.find(name).orElseThrow();
            assertEquals(s.engines(), s.faults().size());
            assertTrue(s.faults().stream().allMatch(f -> f.kind() == Fault.Kind.SPEED));
        }
    }
}
