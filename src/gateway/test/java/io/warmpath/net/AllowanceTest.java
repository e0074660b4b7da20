package io.warmpath.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class AllowanceTest {
    private static final long SECOND = 1_000_000_000;

    private long now = -5 * SECOND; // as System.nanoTime may be

    private int taken(Allowance allowance) {
        int taken = 0;
        while (allowance.take()) {
            taken++;
        }
        return taken;
    }

    @Test
    void so_many_at_once_and_so_many_a_second() {
        Allowance allowance = new Allowance(100, 10, () -> now);
        assertEquals(100, taken(allowance));
        now += SECOND / 2;
        assertEquals(5, taken(allowance));
        now += SECOND / 100;
        assertEquals(0, taken(allowance));
        now += 9 * SECOND / 100;
        assertEquals(1, taken(allowance), "parts of a second add up");
        now += 1_000_000 * SECOND;
        assertEquals(100, taken(allowance));
    }

    @Test
    void what_is_given_counts_up_to_the_most() {
        Allowance allowance = new Allowance(10, 1, () -> now);
        taken(allowance);
        allowance.give(3);
        assertEquals(3, taken(allowance));
        allowance.give(1000);
        assertEquals(10, taken(allowance));
    }

    /** Whatever the rhythm: never more than the burst and the rate together. */
    @Test
    void never_more_than_both_together() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 100; round++) {
            int most = 1 + random.nextInt(50);
            int rate = 1 + random.nextInt(50);
            long began = now;
            Allowance allowance = new Allowance(most, rate, () -> now);
            long all = 0;
            for (int i = 0; i < 200; i++) {
                now += random.nextLong(SECOND / 5);
                for (int k = random.nextInt(20); k > 0 && allowance.take(); k--) {
                    all++;
                }
                // A full burst may fill again while some of the first is left.
                double bound = 2.0 * most + (double) (now - began) * rate / SECOND;
                assertTrue(all <= bound, "seed " + seed + ", round " + round);
            }
        }
    }
}
