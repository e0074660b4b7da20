package io.warmpath.upstream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class GatherTest {
    private static final long MILLI = 1_000_000;

    private final Gather gather = new Gather(true);
    private long now = 5_000 * MILLI;

    /** Turns with one read each, {@code perSecond} of them, for 100 ms; how many would pause. */
    private int turns(int perSecond, int startsPerTurn) {
        int pauses = 0;
        for (int i = 0; i < perSecond / 10; i++) {
            now += 1_000 * MILLI / perSecond;
            for (int s = 0; s < startsPerTurn; s++) {
                gather.started();
            }
            if (gather.read(now) && gather.pauses()) {
                pauses++;
            }
        }
        return pauses;
    }

    @Test
    void a_loop_that_reads_often_pauses() {
        turns(3000, 0);
        assertTrue(turns(3000, 0) > 250);
    }

    @Test
    void a_loop_that_reads_seldom_never_pauses() {
        assertEquals(0, turns(1000, 0));
        assertEquals(0, turns(1000, 0));
    }

    @Test
    void an_idle_loop_does_not_pause_at_its_first_read() {
        turns(3000, 0);
        now += 1_000 * MILLI;
        assertFalse(gather.read(now));
    }

    @Test
    void a_burst_of_starts_is_not_held_up() {
        turns(3000, 0);
        assertEquals(0, turns(3000, 1), "as many starts as reads");
        assertTrue(turns(3000, 0) > 200, "the starts are over");
    }

    @Test
    void only_the_first_read_of_a_turn_asks_for_the_pause() {
        turns(3000, 0);
        assertTrue(gather.read(now));
        assertFalse(gather.read(now));
        assertTrue(gather.pauses());
    }

    @Test
    void switched_off_it_never_pauses() {
        Gather off = new Gather(false);
        for (int i = 0; i < 1000; i++) {
            now += MILLI / 10;
            assertFalse(off.read(now));
        }
    }
}
