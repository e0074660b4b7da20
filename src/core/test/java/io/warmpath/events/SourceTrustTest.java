package io.warmpath.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.SourceStatus.Belief;
import io.warmpath.fleet.EventView;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How far a source can be relied on: silence, lost connections, lag, blocks of another size. */
class SourceTrustTest extends SessionFixture {
    @Test
    void changes_of_state_are_told_once_each() {
        SourceSession session = session(false);
        send(session, 0, 1, 2, 9, 10);
        late(session);
        send(session, 11, 20);
        late(session);
        assertEquals(
                List.of(
                        EventView.EXACT,
                        EventView.REPAIRING,
                        EventView.GAP,
                        EventView.REPAIRING,
                        EventView.GAP),
                states);
        assertEquals(2, session.status().lost());
        assertEquals(2, session.status().gaps());
        assertEquals(0, session.status().repaired());
    }

    @Test
    void while_a_hole_is_repaired_what_is_known_counts_in_part() {
        SourceSession session = session(true);
        send(session, 0, 1, 5);
        SourceStatus status = session.status();
        assertEquals(EventView.REPAIRING, status.state());
        assertEquals(Belief.PART, status.belief());
        assertEquals("batches 2 to 4 were missed", status.why());
        replay(session, 1, 2, 3, 4, 5);
        session.replayEnded();
        assertEquals(Belief.ALL, session.status().belief());
        assertEquals(1, session.status().repaired());
        assertEquals(5, session.status().sequence());
    }

    @Test
    void after_a_hole_what_is_known_is_true_and_after_an_unreadable_batch_it_may_not_be() {
        SourceSession session = session(false);
        send(session, 0, 1, 5);
        late(session);
        assertEquals(Belief.ALL, session.status().belief(), "the doubtful part was forgotten");
        session.live(6, payload(0, BROKEN));
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(Belief.PART, session.status().belief(), "it may have been a removal");
        session.live(7, payload(0, CLEAR));
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(Belief.ALL, session.status().belief());
    }

    @Test
    void an_engine_that_computes_and_says_nothing_is_frozen_until_it_speaks() {
        SourceSession session = session(false);
        send(session, 0, 1);
        now += SECOND;
        session.computed(now);
        session.computed(now);
        now += 11 * SECOND;
        session.tick();
        assertEquals(EventView.EXACT, session.status().state(), "two may be a coincidence");
        session.computed(now);
        session.tick();
        assertEquals(EventView.FROZEN, session.status().state());
        assertEquals(Belief.NOTHING, session.status().belief());
        assertEquals(3, session.status().owed());
        assertTrue(session.status().why().startsWith("3 requests"), session.status().why());
        send(session, 2);
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(0, session.status().owed());
    }

    /** An engine that publishes without numbers. */
    @Test
    void messages_that_are_no_events_are_told_of_when_no_event_comes() {
        SourceSession session = session(false);
        session.unusable("one frame");
        session.unusable("two frames");
        now += SECOND;
        for (int i = 0; i < 3; i++) {
            session.computed(now);
        }
        now += 11 * SECOND;
        session.tick();
        assertEquals(EventView.FROZEN, session.status().state());
        assertEquals(
                "3 requests with new blocks were answered and no event came that is usable;"
                        + " 2 message(s) came, the last with two frames",
                session.status().why());
        assertEquals(2, session.status().rejected());
        assertEquals(2, counters.badFrames());
    }

    @Test
    void events_that_were_never_switched_on_are_noticed_by_the_requests() {
        SourceSession session = session(false);
        now += SECOND;
        for (int i = 0; i < 3; i++) {
            session.computed(now);
        }
        now += 11 * SECOND;
        session.tick();
        assertEquals(List.of(EventView.FROZEN), states);
    }

    @Test
    void a_request_during_which_a_batch_came_owes_nothing() {
        SourceSession session = session(false);
        long began = now;
        now += SECOND;
        send(session, 0);
        for (int i = 0; i < 5; i++) {
            session.computed(began);
        }
        now += 20 * SECOND;
        session.tick();
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(0, session.status().owed());
    }

    @Test
    void a_silent_publisher_is_asked_before_it_counts_as_frozen() {
        SourceSession session = session(true);
        send(session, 0, 1);
        now += SECOND;
        for (int i = 0; i < 3; i++) {
            session.computed(now);
        }
        now += 11 * SECOND;
        session.tick();
        assertEquals(List.of(1L), requests);
        assertEquals(EventView.EXACT, session.status().state());
        replay(session, 1, 2);
        session.replayEnded();
        assertEquals(EventView.EXACT, session.status().state(), "only the way here was broken");
        assertEquals(3, depth());
        now += SECOND;
        for (int i = 0; i < 3; i++) {
            session.computed(now);
        }
        now += 11 * SECOND;
        session.tick();
        replay(session, 2);
        session.replayEnded();
        assertEquals(EventView.FROZEN, session.status().state());
    }

    @Test
    void a_lost_connection_ends_belief_until_the_same_process_has_answered() {
        SourceSession session = session(true);
        session.connected();
        session.start();
        replay(session, 0, 1);
        session.replayEnded();
        session.disconnected();
        assertEquals(EventView.GONE, session.status().state());
        assertEquals(Belief.NOTHING, session.status().belief());
        session.connected();
        assertEquals(EventView.REPAIRING, session.status().state());
        assertEquals(1L, requests.getLast());
        replay(session, 1, 2);
        session.replayEnded();
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(3, depth());
    }

    @Test
    void without_replay_a_number_that_fits_is_believed_after_a_lost_connection_and_not_exact() {
        SourceSession session = session(false);
        session.connected();
        send(session, 0, 1);
        session.disconnected();
        session.connected();
        assertEquals(EventView.REPAIRING, session.status().state());
        send(session, 2);
        assertEquals(EventView.GAP, session.status().state(), "another may have come as far");
        assertEquals(Belief.ALL, session.status().belief());
        assertEquals(3, depth());
        session.disconnected();
        session.connected();
        send(session, 9);
        late(session);
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(0, depth());
    }

    @Test
    void an_engine_that_is_not_there_yet_is_being_connected_to() {
        SourceSession session = session(true);
        session.start();
        for (int i = 0; i < 3; i++) {
            now += 6 * SECOND;
            session.tick();
        }
        assertEquals(EventView.CONNECTING, session.status().state());
        session.connected();
        assertEquals(3, requests.size(), "asked at once, not when the next audit is due");
        session.replayEnded();
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void batches_that_wait_to_be_applied_are_told_as_lag() {
        SourceSession session = session(false);
        send(session, 0);
        session.drained(true);
        assertEquals(EventView.EXACT, session.status().state(), "a burst is no lag");
        now += SECOND / 5;
        session.drained(true);
        assertEquals(EventView.LAGGING, session.status().state());
        assertEquals(Belief.PART, session.status().belief());
        session.drained(false);
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void blocks_of_another_size_are_told_with_both_sizes_until_one_fits() {
        SourceSession session = session(false);
        session.live(0, payload(0, WIDE));
        SourceStatus status = session.status();
        assertEquals(EventView.FROZEN, status.state());
        assertTrue(status.why().contains("have 2 tokens, this worker's 1"), status.why());
        session.live(1, payload(0, 0));
        assertEquals(EventView.EXACT, session.status().state());
        session.live(2, payload(0, WIDE));
        assertEquals(EventView.EXACT, session.status().state(), "some group beside the main one");
    }

    @Test
    void a_source_that_was_given_up_is_gone_and_says_why() {
        SourceSession session = session(false);
        send(session, 0);
        session.close("the index is closed");
        assertEquals(EventView.GONE, session.status().state());
        assertEquals("the index is closed", session.status().why());
    }
}
