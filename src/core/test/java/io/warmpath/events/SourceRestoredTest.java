package io.warmpath.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.SourceStatus.Belief;
import io.warmpath.fleet.EventView;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What came from a file, until the publisher has confirmed it or has not. */
class SourceRestoredTest extends SessionFixture {
    /** Blocks 0 to 2 came from batches 0 to 2, told to a process before this one. */
    private SourceMark fromFile() {
        SourceSession before = session(false);
        send(before, 0, 1, 2);
        SourceMark mark = before.mark();
        assertNotNull(mark);
        states.clear();
        return mark;
    }

    private SourceSession resumed(boolean replay) {
        SourceMark mark = fromFile();
        SourceSession session = session(replay);
        session.resume(mark, 600 * SECOND);
        session.start();
        return session;
    }

    @Test
    void nothing_is_marked_before_the_first_batch() {
        assertNull(session(false).mark());
        assertEquals(SourceStatus.NO_SEQUENCE, session(false).status().sequence());
    }

    @Test
    void what_came_from_a_file_counts_in_part_until_the_publisher_has_answered() {
        SourceSession session = resumed(true);
        assertEquals(List.of(2L), requests, "from the last batch of the file on");
        assertEquals(EventView.REPAIRING, session.status().state());
        assertEquals(Belief.PART, session.status().belief());
        assertEquals(
                2, session.status().sequence(), "the newest, though this process has not met it");
        send(session, 5);
        replay(session, 2, 3, 4);
        session.replayEnded();
        assertEquals(6, depth());
        assertEquals(EventView.EXACT, session.status().state());
        assertEquals(Belief.ALL, session.status().belief());
        assertEquals(0, counters.restarts() + counters.gapsLost());
    }

    @Test
    void another_process_behind_the_same_address_drops_what_came_from_a_file() {
        SourceSession session = resumed(true);
        session.replayed(2, payload(1, 2));
        assertEquals(0, depth(), "the last batch of the file reads differently now");
        assertEquals(List.of(2L, 0L), requests);
        session.replayed(0, payload(1, 0));
        session.replayEnded();
        assertEquals(1, depth());
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void a_process_that_has_not_come_so_far_drops_what_came_from_a_file() {
        SourceSession session = resumed(true);
        session.replayEnded();
        assertEquals(0, depth(), "it must know the batch that the file ends with");
        assertEquals(List.of(2L, 0L), requests);
    }

    @Test
    void a_replay_buffer_that_starts_behind_the_file_drops_what_came_from_it() {
        SourceSession session = resumed(true);
        session.replayed(9, payload(0, 0));
        session.replayEnded();
        assertEquals(1, depth(), "what was removed in between is not known");
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(1, session.status().lost());
    }

    @Test
    void an_unanswered_replay_leaves_the_file_in_doubt_and_is_tried_until_it_expires() {
        SourceSession session = resumed(true);
        now += 6 * SECOND;
        session.tick();
        now += 6 * SECOND;
        session.tick();
        assertFalse(session.replaying());
        send(session, 3);
        assertEquals(EventView.REPAIRING, session.status().state(), "it may be another's number 3");
        for (int i = 0; i < 31; i++) {
            now += SECOND;
            send(session, 4 + i);
            session.tick();
        }
        assertTrue(requests.size() > 2, "asked again although it is not silent");
        now += 600 * SECOND;
        session.tick();
        now += 6 * SECOND;
        session.tick();
        session.tick();
        assertEquals(EventView.GAP, session.status().state());
        assertEquals(0, depth());
    }

    @Test
    void without_a_replay_socket_a_file_stays_in_doubt_until_a_clear() {
        SourceSession session = resumed(false);
        send(session, 3, 4);
        assertEquals(5, depth());
        assertEquals(Belief.PART, session.status().belief());
        session.live(5, payload(0, CLEAR));
        assertEquals(EventView.EXACT, session.status().state());
    }

    @Test
    void forgetting_reaches_blocks_that_only_the_file_has_told() {
        SourceSession session = resumed(false);
        send(session, 9);
        late(session);
        assertEquals(0, depth());
        assertEquals(EventView.GAP, session.status().state());
    }
}
