package io.warmpath.lab.workload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.BitSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The drawn workloads that nothing was tuned on are what they say. */
class UnseenTest {
    private static Workload draw(String name, long seed) {
        return Scenarios.find(name).orElseThrow().draw().apply(seed);
    }

    /** Of all prompt blocks those that were there before, in the order of the starts. */
    private static double seenBefore(Workload w) {
        BitSet seen = new BitSet(w.ids());
        long all = 0;
        long known = 0;
        for (int i = 0; i < w.size(); i++) {
            int[] blocks = w.blocks()[i];
            for (int b = 0; b < Math.min(blocks.length, w.prompt()[i] / w.blockTokens()); b++) {
                all++;
                known += seen.get(blocks[b]) ? 1 : 0;
            }
            for (int block : blocks) {
                seen.set(block);
            }
        }
        return (double) known / all;
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        // name, mean prompt, mean answer, seen before: from, to
        "rag, 5000, 250, 0.5, 0.95",
        "code, 15000, 24, 0.85, 0.99",
        "eval, 8000, 12, 0.85, 0.99",
        "tenants, 5500, 220, 0.8, 0.99"
    })
    void lengths_and_sharing_are_what_the_scenario_is_about(
            String name, double prompt, double answer, double from, double to) {
        Workload w = draw(name, 1);
        assertEquals(prompt, w.meanPrompt(), 0.3 * prompt);
        assertEquals(answer, w.meanAnswer(), 0.15 * answer);
        double seen = seenBefore(w);
        assertTrue(seen >= from && seen <= to, name + " has seen " + seen);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rag", "code", "eval", "tenants"})
    void equal_seeds_draw_equal_workloads_and_others_do_not(String name) {
        Workload one = draw(name, 3);
        Workload again = draw(name, 3);
        assertArrayEquals(one.prompt(), again.prompt());
        assertTrue(Arrays.deepEquals(one.blocks(), again.blocks()));
        assertArrayEquals(one.startMillis(), again.startMillis());
        assertFalse(Arrays.equals(one.prompt(), draw(name, 4).prompt()));
    }

    /**
     * A block's id stands for all before it: two prompts with one block have all before in common.
     */
    @ParameterizedTest
    @ValueSource(strings = {"rag", "code", "eval", "tenants"})
    void a_block_has_the_same_blocks_before_it_wherever_it_is(String name) {
        Workload w = draw(name, 2);
        int[] before = new int[w.ids()];
        Arrays.fill(before, -2);
        for (int[] blocks : w.blocks()) {
            for (int b = 0; b < blocks.length; b++) {
                int parent = b == 0 ? -1 : blocks[b - 1];
                assertTrue(before[blocks[b]] == -2 || before[blocks[b]] == parent, name);
                before[blocks[b]] = parent;
            }
        }
    }
}
