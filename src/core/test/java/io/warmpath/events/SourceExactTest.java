package io.warmpath.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.SourceStatus.Belief;
import io.warmpath.fleet.EventView;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The ways into {@code exact}: what proves each, and what looks the same and proves nothing. The
 * table in src/docs/explanation/exactness.md names them.
 */
class SourceExactTest extends SessionFixture {
    private static void exact(SourceSession session) {
        assertEquals(EventView.EXACT, session.status().state(), session.status().why());
        assertEquals(Belief.ALL, session.status().belief());
    }

    private static void not(EventView state, SourceSession session) {
        assertEquals(state, session.status().state(), session.status().why());
    }

    /** Ten batches of a process, then another connection. */
    private SourceSession again(boolean replay) {
        SourceSession session = session(replay);
        session.connected();
        if (replay) {
            session.replayEnded(); // it has said nothing yet
        }
        send(session, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        exact(session);
        requests.clear();
        session.disconnected();
        session.connected();
        return session;
    }

    @Test
    void the_first_live_batch_has_the_number_0() {
        SourceSession session = session(false);
        send(session, 0);
        exact(session);
        SourceSession late = session(false);
        late.live(1, payload(0, 0));
        not(EventView.GAP, late);
        assertEquals("heard from batch 1 on; what was before is not known", late.status().why());
    }

    @Test
    void the_first_live_batch_of_a_simulator_has_the_number_1() {
        SourceSession session = session(false);
        session.live(1, payload(0, SIMULATED));
        exact(session);
        SourceSession late = session(false);
        late.live(2, payload(0, SIMULATED));
        not(EventView.GAP, late);
    }

    @Test
    void the_first_batch_of_the_history_has_the_number_0() {
        SourceSession session = session(true);
        session.start();
        replay(session, 0, 1);
        session.replayEnded();
        exact(session);
        SourceSession late = session(true);
        late.start();
        late.replayed(1, payload(0, 0));
        late.replayEnded();
        not(EventView.GAP, late);
    }

    /** A buffer that keeps anything keeps the newest; one that keeps nothing shows with a batch. */
    @Test
    void the_history_is_empty() {
        SourceSession session = session(true);
        session.start();
        session.replayEnded();
        exact(session);
        session.live(1, payload(0, 1));
        session.replayEnded();
        not(EventView.GAP, session);
    }

    @Test
    void another_process_begins_with_the_number_0() {
        SourceSession session = session(false);
        send(session, 0, 1, 2);
        session.live(0, payload(1, 0));
        exact(session);
        assertEquals(1, depth());
        session.live(1, payload(1, 1));
        session.live(1, payload(2, 0));
        not(EventView.GAP, session); // the third process was heard from 1 on
        assertEquals(1, depth());
    }

    @Test
    void after_a_lost_connection_the_last_batch_comes_again() {
        SourceSession session = again(true);
        assertEquals(List.of(9L), requests);
        not(EventView.REPAIRING, session);
        replay(session, 9);
        not(EventView.REPAIRING, session);
        replay(session, 10);
        not(EventView.REPAIRING, session);
        session.replayEnded();
        exact(session);
        assertEquals(11, depth());
    }

    /** A restart that nobody saw: the new process has not said anything. */
    @Test
    void after_a_lost_connection_an_end_alone_proves_nothing_and_nothing_counts() {
        SourceSession session = again(true);
        session.replayEnded();
        session.replayEnded();
        assertEquals(List.of(9L, 0L), requests);
        not(EventView.FROZEN, session);
        assertEquals(Belief.NOTHING, session.status().belief());
        assertTrue(session.status().why().startsWith("the connection was lost"));
        now += 31 * SECOND;
        session.tick();
        session.replayEnded();
        session.replayEnded();
        not(EventView.FROZEN, session);
        session.live(0, payload(1, 0));
        exact(session);
        assertEquals(1, depth(), "nothing of the dead process");
        assertEquals(1, session.status().restarts());
    }

    @Test
    void after_an_end_alone_a_number_that_fits_is_believed_and_not_exact() {
        SourceSession session = again(true);
        session.replayEnded();
        session.replayEnded();
        send(session, 10);
        not(EventView.GAP, session);
        assertEquals(Belief.ALL, session.status().belief());
        assertEquals(11, depth());
        session.live(11, payload(0, CLEAR));
        exact(session);
    }

    @Test
    void after_an_end_alone_a_batch_that_waited_decides() {
        SourceSession session = again(true);
        session.live(0, payload(1, 0));
        session.replayEnded();
        session.replayEnded();
        exact(session);
        assertEquals(1, depth());
    }

    @Test
    void an_end_alone_of_a_publisher_that_has_answered_before_is_another_process() {
        SourceSession session = session(true);
        session.connected();
        replay(session, 0, 1);
        session.replayEnded();
        session.disconnected();
        session.connected();
        session.replayEnded();
        assertEquals(0, depth());
        session.replayEnded();
        exact(session); // it has said nothing
    }

    /** Its numbers are too old to be told from those of the process before. */
    @Test
    void a_history_that_ends_before_the_last_batch_is_another_process() {
        SourceSession session = session(true);
        session.connected();
        session.replayEnded();
        for (int i = 0; i < 3_000; i++) {
            session.live(i, payload(0, i % 10));
        }
        session.disconnected();
        session.connected();
        session.replayEnded();
        session.replayed(0, payload(1, 0));
        session.replayed(1, payload(1, 1));
        session.replayEnded();
        assertEquals(0, depth(), "of the process that came to 3,000");
        session.replayed(0, payload(1, 0));
        session.replayed(1, payload(1, 1));
        session.replayEnded();
        exact(session);
        assertEquals(2, depth());
    }

    @Test
    void a_replay_that_begins_behind_the_last_batch_proves_no_process() {
        SourceSession session = again(true);
        replay(session, 10, 11);
        session.replayEnded();
        not(EventView.GAP, session);
        assertEquals(12, depth());
    }

    @Test
    void an_answer_to_what_was_asked_before_the_connection_was_lost_proves_nothing() {
        SourceSession session = again(true);
        replay(session, 9);
        session.disconnected();
        session.connected();
        assertEquals(List.of(9L, 9L), requests);
        session.replayEnded();
        assertEquals(0, depth(), "the one that has answered would have sent 9");
    }

    @Test
    void what_waited_when_the_connection_was_lost_is_not_taken_for_the_next_process() {
        SourceSession session = session(false);
        session.connected();
        send(session, 0, 1, 3, 4); // 2 is late
        session.disconnected();
        session.connected();
        session.live(2, payload(1, 9));
        assertEquals(3, session.next(), "3 and 4 are of the old process");
        late(session);
        not(EventView.GAP, session);
    }

    @Test
    void without_a_replay_a_number_that_fits_is_believed_and_not_exact() {
        SourceSession session = again(false);
        not(EventView.REPAIRING, session);
        send(session, 10);
        not(EventView.GAP, session);
        assertEquals(11, depth());
    }

    /** A relay: who reads its stream would call the dead process's batches exact. */
    @Test
    void who_takes_the_batches_learns_that_a_process_is_not_proven() {
        int[] unproven = {0};
        BatchSink sink =
                new BatchSink() {
                    @Override
                    public Effect take(long sequence, byte[] payload) {
                        return Effect.APPLIED;
                    }

                    @Override
                    public void forget(boolean restarted) {
                        unproven[0] = -1;
                    }

                    @Override
                    public void unproven() {
                        unproven[0]++;
                    }
                };
        SourceSession session =
                new SourceSession(
                        new EventSource("w", 0, List.of(slot), "inproc://x", false, null, "", 1),
                        sink,
                        counters,
                        null,
                        (before, status) -> {},
                        new SourceSession.Timing(5 * SECOND, 30 * SECOND, 10 * SECOND),
                        () -> now);
        send(session, 0, 1);
        session.disconnected();
        session.connected();
        assertEquals(0, unproven[0]);
        send(session, 2, 3);
        assertEquals(1, unproven[0], "once, before the first batch in doubt");
    }

    @Test
    void a_replay_that_nobody_answers_leaves_a_number_that_fits() {
        SourceSession session = again(true);
        session.replayRefused();
        not(EventView.REPAIRING, session);
        send(session, 10);
        not(EventView.GAP, session);
    }

    @Test
    void who_passes_events_on_may_vouch_for_the_process() {
        SourceSession session = session(false);
        send(session, 0, 1);
        session.disconnected();
        session.rejoined(true);
        exact(session);
        session.disconnected();
        session.rejoined(false);
        not(EventView.REPAIRING, session);
        send(session, 2); // its numbers are those of one process
        exact(session);
    }

    private SourceSession fromFile() {
        SourceSession before = session(false);
        send(before, 0, 1, 2);
        SourceMark mark = before.mark();
        assertNotNull(mark);
        SourceSession session = session(true);
        session.resume(mark, 600 * SECOND);
        session.start();
        return session;
    }

    @Test
    void the_last_batch_of_a_file_comes_again() {
        SourceSession session = fromFile();
        replay(session, 2);
        not(EventView.REPAIRING, session);
        session.replayEnded();
        exact(session);
    }

    /** A batch that came while the file was in doubt proves itself alone. */
    @Test
    void a_batch_that_came_behind_a_file_does_not_prove_the_file() {
        for (int epoch = 0; epoch < 2; epoch++) {
            requests.clear();
            SourceSession session = fromFile();
            session.replayRefused();
            session.live(3, payload(epoch, 3));
            not(EventView.REPAIRING, session);
            now += 31 * SECOND;
            session.tick();
            assertEquals(List.of(2L, 2L), requests, "the file's last");
            session.replayed(2, payload(epoch, 2));
            if (epoch == 0) {
                session.replayed(3, payload(epoch, 3));
                session.replayEnded();
                exact(session);
                assertEquals(4, depth());
            } else {
                assertEquals(0, depth(), "another process had come as far");
            }
        }
    }

    @Test
    void a_file_that_begins_in_the_middle_stays_one() {
        SourceSession before = session(false);
        before.live(5, payload(0, 0));
        SourceMark mark = before.mark();
        assertNotNull(mark);
        SourceSession session = session(true);
        session.resume(mark, 600 * SECOND);
        session.start();
        session.replayed(5, payload(0, 0));
        session.replayEnded();
        not(EventView.GAP, session);
    }

    @Test
    void a_clear_makes_all_known_and_an_event_that_cannot_be_read_does_not() {
        SourceSession session = session(false);
        session.live(7, payload(0, 0));
        not(EventView.GAP, session);
        session.live(8, payload(0, CLEAR));
        exact(session);
        session.live(9, payload(0, PARTLY));
        not(EventView.GAP, session);
        assertEquals(Belief.PART, session.status().belief(), "it may have been a removal");
        assertEquals(1, depth(), "the others of its batch count");
        assertEquals(0, session.status().rejected());
        session.live(10, payload(0, CLEAR));
        exact(session);
    }
}
