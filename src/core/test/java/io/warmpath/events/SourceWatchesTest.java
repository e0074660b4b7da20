package io.warmpath.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EventView;
import org.junit.jupiter.api.Test;

/** What is watched of a source besides the order of its batches, each watch alone. */
class SourceWatchesTest {
    private static final long MILLI = 1_000_000;

    private final SourceStanding standing = new SourceStanding(() -> 0, before -> {});
    private final EventCounters counters = new EventCounters();
    private final SourceTally tally = new SourceTally();

    SourceWatchesTest() {
        standing.reading = false;
        standing.complete = true;
        standing.settle("heard");
    }

    private EventView state() {
        return standing.now().state();
    }

    @Test
    void batches_left_for_a_moment_are_no_lag_and_left_for_longer_are() {
        LagWatch lag = new LagWatch(standing);
        lag.drained(true, 0);
        lag.drained(true, 99 * MILLI);
        assertEquals(EventView.EXACT, state());
        lag.drained(false, 99 * MILLI);
        lag.drained(true, 150 * MILLI);
        lag.drained(true, 249 * MILLI);
        assertEquals(EventView.EXACT, state(), "it had caught up in between");
        lag.drained(true, 250 * MILLI);
        assertEquals(EventView.LAGGING, state());
        lag.drained(false, 260 * MILLI);
        assertEquals(EventView.EXACT, state());
    }

    @Test
    void the_first_refusal_counts_and_the_expected_batch_ends_it() {
        RefusedBatches refused = new RefusedBatches(standing, counters, tally, 50 * MILLI);
        refused.came(true);
        assertEquals(0, counters.repaired(), "nothing was refused");
        refused.refused(3, "3 are missing", 10 * MILLI);
        refused.refused(4, "and one more", 40 * MILLI);
        assertEquals(1, counters.gaps());
        assertEquals(EventView.REPAIRING, state());
        assertFalse(refused.overdue(59 * MILLI));
        assertTrue(refused.overdue(60 * MILLI), "the first one began the time");
        refused.came(true);
        standing.settle("it came");
        assertEquals(EventView.EXACT, state());
        assertEquals(1, counters.repaired());
        assertFalse(refused.overdue(1_000 * MILLI));
    }

    @Test
    void refused_batches_that_never_come_are_given_up_with_their_number() {
        RefusedBatches refused = new RefusedBatches(standing, counters, tally, 50 * MILLI);
        refused.refused(3, "3 are missing", 0);
        assertEquals(3, refused.giveUp());
        assertFalse(refused.overdue(1_000 * MILLI));
        refused.came(false);
        assertEquals(0, counters.repaired());
    }

    @Test
    void a_publisher_is_asked_once_in_a_silence_and_then_not_believed_until_it_speaks() {
        SourceSilence silence = new SourceSilence(standing, 100 * MILLI, 0);
        for (int i = 0; i < StallWatch.REQUESTS; i++) {
            silence.computed(1, MILLI);
        }
        assertFalse(silence.stalls(100 * MILLI));
        assertTrue(silence.stalls(101 * MILLI));
        assertTrue(silence.mayAsk());
        assertTrue(silence.checked());
        assertFalse(silence.mayAsk());
        silence.freeze();
        assertEquals(EventView.FROZEN, state());
        assertTrue(standing.now().why().startsWith("3 requests"), standing.now().why());
        assertFalse(silence.stalls(500 * MILLI), "it is told once");
        silence.heard(600 * MILLI);
        assertEquals(EventView.EXACT, state());
        assertEquals(0, silence.owed());
        assertFalse(silence.checked());
        assertFalse(silence.longerThan(30 * MILLI, 629 * MILLI));
        assertTrue(silence.longerThan(30 * MILLI, 630 * MILLI));
        silence.begin(630 * MILLI);
        assertFalse(silence.longerThan(30 * MILLI, 631 * MILLI));
    }
}
