package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class TickRoundTest {
    private static final long PERIOD = 20_000_000;

    @Test
    void whatever_the_turns_each_source_is_looked_at_once_a_period() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int count = 1 + random.nextInt(1000);
        int[] looks = new int[count];
        long now = random.nextLong();
        TickRound round = new TickRound(PERIOD, now);
        long begin = now;
        int rounds = 0;
        int most = 0;
        while (rounds < 50) {
            now += 1 + random.nextInt(200_000);
            int until = round.until(now, count);
            most = Math.max(most, until - round.from());
            for (int i = round.from(); i < until; i++) {
                looks[i]++;
            }
            round.looked(until, now);
            if (round.from() == 0 && until == count) {
                rounds++;
                for (int i = 0; i < count; i++) {
                    assertEquals(rounds, looks[i], "source " + i + ", seed " + seed);
                }
            }
        }
        // A turn is 1 % of the period at most.
        assertTrue(most <= count / 50 + 2, most + " of " + count + ", seed " + seed);
        assertTrue(now - begin <= 50 * (PERIOD + 200_000), "seed " + seed);
    }

    @Test
    void after_a_long_turn_all_are_due_and_sources_that_went_do_no_harm() {
        TickRound round = new TickRound(PERIOD, 0);
        assertEquals(10, round.until(PERIOD, 10));
        round.looked(10, PERIOD);
        assertEquals(0, round.from());
        assertEquals(8, round.until(PERIOD + PERIOD * 8 / 10, 10));
        round.looked(8, PERIOD + PERIOD * 8 / 10);
        assertEquals(3, round.until(PERIOD + PERIOD * 9 / 10, 3), "of ten, three are left");
        round.looked(3, PERIOD + PERIOD * 9 / 10);
        assertEquals(0, round.until(PERIOD + PERIOD * 9 / 10, 0));
    }
}
