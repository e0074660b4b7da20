package io.warmpath.lab.tune;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SearchTest {
    private static final double[] START = {0.5, 0.5, 0.0};
    private static final int[] RUNGS = {1, 2, 4};
    private static final double[] BEST = {0.8, 0.3, 0.2};

    private int played;

    private double bowl(double[] point) {
        double sum = 0;
        for (int i = 0; i < point.length; i++) {
            sum += (point[i] - BEST[i]) * (point[i] - BEST[i]);
        }
        return sum;
    }

    /** Every cell has its own noise; that of one point on one cell is always the same. */
    private double noisy(double[] point, int cell) {
        played++;
        Random noise = new Random(31L * java.util.Arrays.hashCode(point) + cell);
        return bowl(point) - bowl(START) + 0.005 * noise.nextGaussian();
    }

    private Search.Found search(long seed, int budget) {
        played = 0;
        return new Search(RUNGS, budget, new SplittableRandom(seed), this::noisy).run(START);
    }

    @Test
    void the_lowest_point_is_found_within_the_budget_whatever_the_seed() {
        for (long seed = 1; seed <= 20; seed++) {
            Search.Found found = search(seed, 150);
            assertTrue(bowl(found.point()) < 0.02, "seed " + seed + ": " + bowl(found.point()));
            assertTrue(played <= 150 && played == found.plays(), "seed " + seed + ": " + played);
        }
    }

    @Test
    void equal_seeds_find_equal_points() {
        assertArrayEquals(search(3, 100).point(), search(3, 100).point());
        Set<String> found = new HashSet<>();
        for (long seed = 1; seed <= 5; seed++) {
            found.add(java.util.Arrays.toString(search(seed, 100).point()));
        }
        assertEquals(5, found.size());
    }

    @Test
    void where_nothing_is_better_than_the_start_it_stays() {
        Search.Found found =
                new Search(RUNGS, 100, new SplittableRandom(1), (p, cell) -> bowl(p) + 1)
                        .run(START);
        assertArrayEquals(START, found.point());
        assertEquals(0, found.score());
    }

    @Test
    void a_budget_that_does_not_reach_for_all_cells_is_refused() {
        assertThrows(IllegalArgumentException.class, () -> search(1, 3));
        assertTrue(search(1, 4).plays() <= 4);
    }

    @Test
    void dials_give_the_defaults_at_their_start_and_say_so_in_yaml() {
        Dials blocks = Dials.blocks(true);
        assertArrayEquals(new double[] {1, 0, 1, 0, 0.75}, blocks.values(blocks.start()));
        assertEquals(
                io.warmpath.routing.RouterOptions.of(io.warmpath.routing.RouterMode.KV)
                        .with(io.warmpath.routing.CostKind.BLOCKS),
                blocks.options(blocks.start()));
        assertEquals(
                """
                warmpath:
                  router:
                    mode: kv
                    cost: blocks
                    overlap-score-credit: 1
                    overlap-score-credit-decay: 0
                    prefill-load-scale: 1
                    decode-active-request-weight: 0
                    host-cache-hit-weight: 0.75
                """,
                blocks.settings(blocks.start()).yaml());
        Dials latency = Dials.latency(io.warmpath.routing.rates.LatencyPriors.DEFAULT);
        assertEquals(
                io.warmpath.routing.rates.LatencyPriors.DEFAULT,
                latency.options(latency.start()).latency());
        assertEquals(
                """
                warmpath:
                  router:
                    mode: kv
                    cost: latency
                    latency:
                      work-price: 1
                      step-millis: 7.5
                      decode-micros-per-request: 20
                      decode-nanos-per-token: 52
                      prefill-micros-per-token: 32
                      prefill-nanos-per-pair: 1.32
                      host-tokens-per-second: 150000
                      pool-tokens-per-second: 75000
                """,
                latency.settings(latency.start()).yaml());
    }

    @Test
    void a_dial_reaches_both_ends_zero_too_and_has_three_digits() {
        Dial dial = Dial.orZero("k", 0.1, 8, 0);
        assertEquals(0, dial.value(0));
        assertEquals(0, dial.value(0.14));
        assertEquals(0.1, dial.value(0.1500001));
        assertEquals(8, dial.value(1));
        assertEquals(8, dial.value(1.5));
        assertEquals(1.23, dial.value(dial.position(1.23)));
        assertEquals(0.894, dial.value(0.575), 1e-9);
    }
}
