package io.warmpath.adapter.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Leases by a clock of our own: marks every 1, outages from 3 on. */
class WorkerLeasesTest {
    private static final long GAP = 3;

    private final WorkerLeases leases = new WorkerLeases(GAP);

    /** Marks come back at every moment from {@code from} to {@code to}. */
    private List<String> pass(long from, long to) {
        for (long now = from; now < to; now++) {
            leases.marked(now);
            assertEquals(List.of(), leases.runOut(now), "at " + now);
        }
        leases.marked(to);
        return leases.runOut(to);
    }

    @Test
    void a_lease_runs_out_when_nobody_writes() {
        assertTrue(leases.seen("a", 1, 10, 100));
        assertEquals(List.of("a"), pass(100, 110));
        assertEquals(0, leases.size());
        assertEquals(List.of(), pass(110, 130));
    }

    @Test
    void every_write_begins_it_anew_and_one_that_was_seen_does_not() {
        leases.seen("a", 1, 10, 100);
        assertEquals(List.of(), pass(100, 108));
        assertTrue(leases.seen("a", 2, 10, 108));
        assertFalse(leases.seen("a", 2, 10, 115));
        assertEquals(List.of("a"), pass(109, 118));
    }

    @Test
    void without_marks_nothing_runs_out_and_then_all_begin_anew() {
        leases.seen("a", 1, 10, 100);
        leases.marked(100);
        assertEquals(List.of(), leases.runOut(103), "still live");
        assertFalse(leases.live(104));
        assertEquals(List.of(), leases.runOut(1_000));
        leases.marked(1_000);
        assertTrue(leases.live(1_000));
        assertEquals(List.of("a"), pass(1_001, 1_010));
    }

    @Test
    void before_the_first_mark_nothing_runs_out() {
        leases.seen("a", 1, 10, 100);
        assertEquals(List.of(), leases.runOut(200));
        assertEquals(List.of("a"), pass(200, 210));
    }

    @Test
    void an_outage_that_is_too_short_to_notice_costs_no_lease() {
        leases.seen("a", 1, 1, 100);
        assertEquals(List.of("a"), pass(100, 100 + 2 * GAP));
    }

    @Test
    void the_write_of_a_lease_that_ran_out_is_not_taken_for_a_new_one() {
        leases.seen("a", 7, 10, 100);
        assertEquals(List.of("a"), pass(100, 110));
        assertFalse(leases.seen("a", 7, 10, 111));
        assertTrue(leases.seen("a", 8, 10, 112));
    }

    @Test
    void what_is_taken_back_is_gone_and_may_come_again_in_a_new_bucket() {
        leases.seen("a", 7, 10, 100);
        leases.end("a");
        assertEquals(List.of(), pass(100, 150));
        assertTrue(leases.seen("a", 7, 10, 151));
    }

    @Test
    void a_write_that_cannot_be_read_shows_that_its_relay_lives() {
        leases.seen("a", 1, 10, 100);
        assertEquals(List.of(), pass(100, 108));
        leases.seen("a", 2, 108);
        leases.seen("unknown", 3, 108);
        assertEquals(1, leases.size());
        assertEquals(List.of("a"), pass(109, 118));
    }
}
