package io.warmpath.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RateTest {
    private static final long MILLI = 1_000_000;
    private static final long NOW = aboutToWrap();

    private static long aboutToWrap() {
        return Long.MAX_VALUE - 5 * MILLI;
    }

    @Test
    void a_second_s_worth_is_there_at_once_and_comes_back_evenly() {
        Rate rate = new Rate(10, NOW);
        for (int i = 0; i < 10; i++) {
            assertTrue(rate.take(1, NOW));
        }
        assertFalse(rate.take(1, NOW));
        assertFalse(rate.take(1, NOW + 99 * MILLI));
        assertTrue(rate.take(1, NOW + 100 * MILLI));
        assertFalse(rate.take(1, NOW + 100 * MILLI));
        assertTrue(rate.take(3, NOW + 400 * MILLI));
        int taken = 0;
        for (int ms = 10_000; ms < 20_000; ms++) {
            taken += rate.take(1, NOW + ms * MILLI) ? 1 : 0;
        }
        assertEquals(109, taken, "ten at once, then ten a second, the last of them still to come");
    }

    @Test
    void more_than_there_can_be_counts_as_all_there_can_be() {
        Rate rate = new Rate(10, NOW);
        assertTrue(rate.take(1000, NOW));
        assertFalse(rate.take(1, NOW));
        assertFalse(rate.take(1000, NOW + 999 * MILLI));
        assertTrue(rate.take(1000, NOW + 1000 * MILLI));
        assertFalse(new Rate(0, NOW).take(1, NOW));
        assertThrows(IllegalArgumentException.class, () -> new Rate(-1, NOW));
    }
}
