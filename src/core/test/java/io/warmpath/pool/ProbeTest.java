package io.warmpath.pool;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.pool.PageCache.Known;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The search for the end of a run: right answers, few questions. */
class ProbeTest {
    private record Cost(int[] bounds, int rounds, int asked) {}

    private static Known[] unknown(int pages) {
        Known[] known = new Known[pages];
        Arrays.fill(known, Known.NOTHING);
        return known;
    }

    private static Cost run(Known[] known, int width, boolean all, BitSet truth) {
        Probe probe = new Probe(known, width, all);
        Set<Integer> asked = new HashSet<>();
        int rounds = 0;
        for (List<Integer> round = probe.next(); !round.isEmpty(); round = probe.next()) {
            rounds++;
            for (int page : round) {
                assertTrue(asked.add(page), "asked twice for page " + page);
                probe.answered(page, truth.get(page));
            }
        }
        return new Cost(probe.bounds(), rounds, asked.size());
    }

    private static BitSet firstPages(int run) {
        BitSet truth = new BitSet();
        truth.set(0, run);
        return truth;
    }

    @Test
    void every_run_of_every_length_is_found_at_every_width() {
        for (int pages = 0; pages < 70; pages++) {
            for (int run = 0; run <= pages; run++) {
                for (int width : new int[] {1, 2, 3, 8, 100}) {
                    int[] bounds = run(unknown(pages), width, false, firstPages(run)).bounds();
                    assertArrayEquals(run == 0 ? new int[0] : new int[] {0, run}, bounds);
                }
            }
        }
    }

    @Test
    void a_prompt_of_100k_tokens_takes_three_rounds_and_fewer_than_a_hundred_pages() {
        int pages = 1563;
        for (int run = 0; run <= pages; run++) {
            Cost cost = run(unknown(pages), 32, false, firstPages(run));
            assertTrue(cost.rounds() <= 3 && cost.asked() < 100, run + ": " + cost);
        }
        assertEquals(1, run(unknown(pages), 32, false, firstPages(0)).rounds(), "a cold prompt");
        assertEquals(1, run(unknown(pages), 32, false, firstPages(pages)).rounds(), "a warm one");
    }

    @Test
    void what_is_known_is_not_asked_again() {
        Known[] known = unknown(100);
        known[49] = Known.HELD;
        known[50] = Known.MISSING;
        Cost cost = run(known, 8, false, new BitSet());
        assertEquals(0, cost.rounds());
        assertArrayEquals(new int[] {0, 50}, cost.bounds());
    }

    @Test
    void asked_for_all_holes_are_seen() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            int pages = random.nextInt(60);
            BitSet truth = new BitSet();
            for (int i = 0; i < pages; i++) {
                truth.set(i, random.nextBoolean());
            }
            Cost cost = run(unknown(pages), 4, true, truth);
            BitSet found = new BitSet();
            for (int i = 0; i < cost.bounds().length; i += 2) {
                found.set(cost.bounds()[i], cost.bounds()[i + 1]);
            }
            assertEquals(truth, found, "seed " + seed);
            assertEquals(pages, cost.asked());
        }
    }

    @Test
    void the_run_ends_at_the_first_hole_that_is_asked_for() {
        Known[] known = unknown(64);
        known[10] = Known.MISSING;
        known[40] = Known.HELD;
        assertArrayEquals(new int[] {0, 10}, run(known, 64, false, firstPages(10)).bounds());
    }
}
