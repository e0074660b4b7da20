package io.warmpath.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.SourceStatus.Belief;
import io.warmpath.fleet.EventView;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Order, gaps, replay and restarts. */
class SourceSessionTest extends SessionFixture {
    @Test
    void batches_in_order_from_zero_are_applied_and_trusted() {
        SourceSession session = session(false);
        send(session, 0, 1, 2);
        assertEquals(3, depth());
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(0, counters.gaps());
    }

    @Test
    void history_is_asked_for_once_connected_even_when_nothing_arrives() {
        SourceSession session = session(true);
        session.start();
        assertEquals(List.of(0L), requests);
        replay(session, 0, 1, 2);
        session.replayEnded();
        assertEquals(3, depth());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void live_batches_wait_for_the_replay_and_none_is_applied_twice() {
        SourceSession session = session(true);
        session.start();
        send(session, 2, 3, 4);
        assertEquals(0, depth(), "live batches ran ahead of the replay");
        replay(session, 0, 1, 2, 3);
        session.replayEnded();
        assertEquals(5, depth());
        assertEquals(2, counters.duplicates());
        assertEquals(5, counters.batches());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_first_batch_above_zero_asks_for_the_history() {
        SourceSession session = session(true);
        send(session, 5);
        assertEquals(List.of(0L), requests);
        assertEquals(EventView.CONNECTING, session.status().state());
        replay(session, 0, 1, 2, 3, 4, 5);
        session.replayEnded();
        assertEquals(6, depth());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_simulator_counts_from_one_and_is_complete() {
        SourceSession session = session(true);
        session.start();
        session.replayed(1, payload(0, SIMULATED));
        session.replayEnded();
        session.live(2, payload(0, 1));
        assertEquals(2, depth());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_gap_is_filled_by_replay_and_never_shows_a_hole() {
        SourceSession session = session(true);
        send(session, 0, 1, 5, 6);
        assertEquals(List.of(1L), requests);
        assertFalse(session.status().state() == EventView.EXACT);
        replay(session, 1, 2, 3, 4, 5);
        session.replayEnded();
        assertEquals(7, depth());
        assertEquals(1, counters.gaps());
        assertEquals(0, counters.gapsLost());
        assertEquals(EventView.EXACT, session.status().state());
    }

    /** The publisher goes on while it is asked, and tells all of it at once. */
    @Test
    void a_replay_that_brings_thousands_beyond_the_hole_is_no_restart() {
        SourceSession session = session(true);
        send(session, 0, 1, 5);
        for (int i = 1; i <= 3_000; i++) {
            session.replayed(i, payload(0, i % 8));
        }
        send(session, 6, 7);
        session.replayEnded();
        assertEquals(0, counters.restarts());
        assertEquals(3, counters.duplicates());
        assertEquals(3_001, counters.batches());
        assertEquals(EventView.EXACT, session.status().state());
        send(session, 3_001);
        assertEquals(3_002, counters.batches());
    }

    @Test
    void a_gap_without_replay_forgets_the_rank_and_stays_untrusted_until_a_clear() {
        SourceSession session = session(false);
        send(session, 0, 1, 5);
        assertEquals(EventView.REPAIRING, session.status().state());
        late(session);
        assertEquals(0, depth());
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(1, counters.gapsLost());
        session.live(6, payload(0, CLEAR));
        assertEquals(EventView.EXACT, session.status().state());
        session.live(7, payload(0, 0));
        assertEquals(1, depth());
    }

    @Test
    void a_hole_that_the_replay_buffer_no_longer_has_forgets_what_was_before_it() {
        SourceSession session = session(true);
        send(session, 0, 1, 9);
        session.replayed(7, payload(0, 0));
        session.replayed(8, payload(0, 1));
        session.replayed(9, payload(0, 9));
        session.replayEnded();
        assertEquals(1, counters.gapsLost());
        assertEquals(2, depth(), "what came after the hole counts");
        assertEquals(EventView.GAP, session.status().state());
    }

    /** A ROUTER of ZeroMQ drops what is too far ahead of its reader: anything but the first. */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void what_a_replay_socket_dropped_is_asked_for_again_until_all_is_there(int seed) {
        Random random = new Random(seed);
        SourceSession session = session(true);
        session.start();
        int said = 3 + random.nextInt(25);
        for (int asked = 1; session.replaying(); asked++) {
            assertEquals(asked, requests.size());
            int from = Math.toIntExact(requests.getLast());
            int last = -1;
            for (int b = from; b < said && requests.size() == asked; b++) {
                if (b < from + 2 || random.nextInt(4) > 0) {
                    replay(session, b);
                    last = b;
                }
            }
            if (random.nextInt(6) == 0) {
                send(session, said++); // meanwhile
            }
            if (requests.size() == asked && last == said - 1 && random.nextBoolean()) {
                session.replayEnded();
            } else if (requests.size() == asked) {
                now += 6 * SECOND; // the end was dropped
                session.tick();
            }
        }
        assertEquals(said, depth());
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(0, counters.gapsLost());
    }

    static IntStream seeds() {
        return IntStream.range(0, 300);
    }

    @Test
    void a_replay_that_is_not_answered_is_tried_twice_and_given_up() {
        SourceSession session = session(true);
        send(session, 0, 1, 5);
        now += 4 * SECOND;
        session.tick();
        assertEquals(1, requests.size());
        now += 2 * SECOND;
        session.tick();
        assertEquals(List.of(1L, 1L), requests);
        assertTrue(session.replaying());
        assertEquals(2, depth(), "forgotten while there still was hope");
        now += 6 * SECOND;
        session.tick();
        assertFalse(session.replaying());
        assertEquals(2, counters.replayFailures());
        assertEquals(0, depth());
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(2, requests.size(), "a dead replay socket must not be asked in a circle");
    }

    @Test
    void an_empty_replay_buffer_is_not_asked_in_a_circle() {
        SourceSession session = session(true);
        session.start();
        session.replayEnded();
        send(session, 4);
        session.replayEnded();
        assertFalse(session.replaying());
        assertEquals(2, requests.size());
        send(session, 5);
        assertEquals(2, counters.batches());
    }

    @Test
    void a_sequence_that_falls_back_is_a_restart_and_clears_the_rank() {
        SourceSession session = session(false);
        send(session, 0, 1, 2);
        session.live(0, payload(1, 0));
        assertEquals(1, depth());
        assertEquals(1, counters.restarts());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_restart_right_after_the_first_batch_is_noticed() {
        SourceSession session = session(false);
        send(session, 0);
        session.live(0, payload(1, 0));
        assertEquals(1, counters.restarts());
        assertEquals(1, depth());
    }

    @Test
    void a_restart_whose_numbers_look_like_old_replayed_ones_is_noticed() {
        SourceSession session = session(true);
        send(session, 0, 6);
        replay(session, 0, 1, 2, 3, 4, 5, 6, 7, 8);
        session.replayEnded();
        assertEquals(9, depth());
        session.live(7, payload(1, 0));
        assertEquals(1, counters.restarts());
        assertEquals(List.of(0L, 0L), requests);
    }

    @Test
    void a_restart_whose_numbers_have_overtaken_ours_is_noticed_by_the_batch_before_the_gap() {
        SourceSession session = session(true);
        send(session, 0, 1, 2);
        session.live(5, payload(1, 5));
        assertEquals(List.of(2L), requests);
        session.replayed(2, payload(1, 2));
        assertEquals(List.of(2L, 0L), requests, "the new process is asked for its whole history");
        assertEquals(0, depth());
        for (int i = 0; i <= 5; i++) {
            session.replayed(i, payload(1, i));
        }
        session.replayEnded();
        assertEquals(6, depth());
        assertEquals(1, counters.restarts());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_silent_source_is_asked_whether_something_was_missed() {
        SourceSession session = session(true);
        send(session, 0, 1);
        now += 31 * SECOND;
        session.tick();
        assertEquals(List.of(1L), requests);
        assertEquals(
                EventView.EXACT,
                session.status().state(),
                "a routine check is no reason for doubt");
        replay(session, 1, 2, 3);
        session.replayEnded();
        assertEquals(4, depth());
        session.tick();
        assertEquals(1, requests.size());
    }

    @Test
    void a_silent_source_that_restarted_is_noticed_by_its_shorter_history() {
        SourceSession session = session(true);
        session.start();
        replay(session, 0, 1, 2, 3);
        session.replayEnded();
        now += 31 * SECOND;
        session.tick();
        session.replayEnded();
        assertEquals(0, depth());
        assertEquals(List.of(0L, 3L, 0L), requests);
        session.replayed(0, payload(1, 0));
        session.replayEnded();
        assertEquals(1, depth());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_batch_that_cannot_be_read_is_counted_and_the_next_one_still_applied() {
        SourceSession session = session(false);
        send(session, 0);
        session.live(1, payload(0, BROKEN));
        assertEquals(EventView.GAP, session.status().state());
        session.live(2, payload(0, 1));
        assertEquals(1, counters.rejectedBatches());
        assertEquals(2, depth());
        assertEquals(EventView.GAP, session.status().state());
    }

    @Test
    void answers_after_the_end_change_nothing() {
        SourceSession session = session(true);
        session.start();
        replay(session, 0);
        session.replayEnded();
        replay(session, 1);
        session.replayEnded();
        assertEquals(1, depth());
    }

    @Test
    void a_late_start_without_replay_is_told_to_be_incomplete() {
        SourceSession session = session(false);
        assertEquals(EventView.CONNECTING, session.status().state());
        send(session, 7);
        assertEquals(List.of(EventView.GAP), states);
    }

    /** Nothing was ever replayed, so that an empty answer alone proves nothing. */
    @Test
    void another_process_that_has_said_less_is_noticed_though_no_replay_ever_brought_anything() {
        SourceSession session = session(true);
        session.start();
        session.replayEnded();
        send(session, 0, 1, 2, 3, 4);
        assertEquals(5, depth());
        session.disconnected();
        session.connected();
        assertEquals(List.of(0L, 4L), requests);
        session.replayEnded(); // it has no batch 4
        assertEquals(List.of(0L, 4L, 0L), requests);
        session.replayed(0, payload(1, 0));
        assertEquals(0, depth());
        session.replayed(0, payload(1, 0));
        session.replayed(1, payload(1, 1));
        session.replayEnded();
        assertEquals(2, depth());
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(1, session.status().restarts());
    }

    @Test
    void a_publisher_whose_replay_never_brings_anything_is_not_forgotten_for_it() {
        SourceSession session = session(true);
        session.start();
        session.replayEnded();
        send(session, 0, 1, 2);
        session.disconnected();
        session.connected();
        session.replayEnded();
        session.replayEnded();
        assertEquals(List.of(0L, 2L, 0L), requests);
        assertEquals(Belief.NOTHING, session.status().belief());
        send(session, 3);
        assertEquals(4, depth());
        assertEquals(Belief.ALL, session.status().belief());
        assertEquals(0, session.status().restarts());
    }

    @Test
    void a_batch_that_was_overtaken_is_waited_for_and_applied_in_its_place() {
        SourceSession session = session(false);
        send(session, 0, 1, 4, 3, 5);
        assertEquals(2, depth());
        send(session, 2);
        assertEquals(6, depth());
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(1, session.status().gaps());
        assertEquals(1, session.status().repaired());
        assertEquals(0, counters.gapsLost() + counters.restarts());
    }

    @Test
    void what_waits_for_an_overtaken_batch_has_a_bound() {
        SourceSession session = session(false);
        send(session, 0);
        for (int i = 2; i < 70; i++) {
            send(session, i);
        }
        assertEquals(1, counters.gapsLost(), "given up before its time");
        assertEquals(69, counters.batches());
    }

    @Test
    void sequences_beyond_the_sign_bit_are_in_order() {
        SourceSession session = session(false);
        session.live(Long.MAX_VALUE, payload(0, 0));
        session.live(Long.MIN_VALUE, payload(0, 1));
        assertEquals(2, depth());
        assertEquals(0, counters.gaps() + counters.restarts());
    }
}
