package io.warmpath.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.SessionSupport;
import io.warmpath.session.ControlledSession.Place;
import io.warmpath.session.ControlledSessions.Event;
import io.warmpath.session.SharedSessions.Elsewhere;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What one gateway tells of its open sessions, and makes of what it is told. */
class SharedSessionsTest {
    private static final SessionKey KEY = Ranks.key("acme", "s1");
    private static final SessionName NAME = new SessionName(1, "s1".hashCode());

    private long now = 7_000_000_000L;
    private final List<Place> letGo = new ArrayList<>();
    private final List<String> told = new ArrayList<>();
    private final ControlledSessions table =
            new ControlledSessions(
                    new ControlledSessions.Options(3, 100, 150, 0.5), () -> now, letGo::add);
    private final AtomicInteger openings = new AtomicInteger();
    private final SharedSessions shared =
            new SharedSessions(new Told(), table, 2, () -> now, openings::incrementAndGet);

    private final class Told implements SessionNews {
        @Override
        public SessionName name(SessionKey key) {
            return new SessionName(1, key.id().hashCode());
        }

        @Override
        public void bound(SessionName session, long worker, int dpRank, boolean moved) {
            told.add("bound");
        }

        @Override
        public void ended(SessionName session) {
            told.add("ended");
        }

        @Override
        public void opened(
                SessionName session, int opening, int timeoutSeconds, boolean staysOnly) {
            told.add("opened " + opening + " " + timeoutSeconds + (staysOnly ? " stays" : ""));
        }

        @Override
        public void closed(SessionName session, int opening) {
            told.add("closed " + opening);
        }
    }

    private void pass(int seconds) {
        now += Duration.ofSeconds(seconds).toNanos();
    }

    /** An open session at a rank that keeps it, between two turns. */
    private ControlledSession open() {
        ControlledSession s = running();
        table.ended(s);
        return s;
    }

    private ControlledSession running() {
        ControlledSession s = table.open(KEY, 60, false);
        assertNotNull(s);
        table.bind(s, Ranks.first(1).getFirst(), SessionSupport.RADIX);
        shared.turn(KEY, s);
        return s;
    }

    @Test
    void every_turn_is_told_under_one_number_and_the_end_once() {
        ControlledSession s = open();
        shared.turn(KEY, s);
        assertEquals(List.of("opened 1 60", "opened 1 60"), told);
        assertTrue(table.take(KEY, s));
        shared.over(KEY, s);
        shared.over(KEY, s);
        shared.sweep();
        assertEquals("closed 1", told.getLast());
        assertEquals(3, told.size());
    }

    @Test
    void an_id_that_is_opened_anew_is_another_opening() {
        ControlledSession old = open();
        ControlledSession again = open();
        assertEquals(List.of("opened 1 60", "opened 2 60"), told);
        shared.over(KEY, old);
        assertEquals(2, told.size(), "the old one's end is nobody's business");
        shared.over(KEY, again);
        assertEquals("closed 2", told.getLast());
    }

    @Test
    void what_another_gateway_takes_over_is_given_and_closed_here() {
        open();
        shared.toldOpened(NAME, 9, 60, false);
        assertNull(table.find(KEY));
        assertEquals(1, letGo.size());
        assertEquals(1, table.counted(Event.GIVEN));
        assertEquals(0, table.counted(Event.CLOSED));
        assertEquals(new Elsewhere(9, 60, false, now), shared.elsewhere(KEY));
        shared.sweep();
        assertEquals(List.of("opened 1 60"), told, "it is not over, and not ours to tell of");
    }

    @Test
    void a_turn_that_runs_is_not_cut_off() {
        ControlledSession s = running();
        shared.toldOpened(NAME, 9, 60, false);
        assertEquals(0, letGo.size());
        table.ended(s);
        table.release(s); // as the turn's end does where the session is no longer there
        assertEquals(1, letGo.size());
    }

    @Test
    void a_close_from_elsewhere_closes_the_opening_that_it_means() {
        open();
        shared.toldClosed(NAME, 7);
        assertNotNull(table.find(KEY), "an older one's close comes late");
        shared.toldClosed(NAME, 1);
        assertNull(table.find(KEY));
        assertEquals(1, letGo.size());
        assertEquals(1, table.counted(Event.CLOSED));
    }

    @Test
    void what_others_have_is_known_for_its_time() {
        shared.toldOpened(NAME, 9, 60, true);
        pass(59);
        Elsewhere there = shared.elsewhere(KEY);
        assertNotNull(there);
        assertTrue(there.staysOnly());
        pass(1);
        assertNull(shared.elsewhere(KEY));
        shared.toldOpened(NAME, 9, 60, true);
        shared.toldClosed(NAME, 8);
        assertNotNull(shared.elsewhere(KEY), "another opening");
        shared.toldClosed(NAME, 9);
        assertNull(shared.elsewhere(KEY));
        assertNull(shared.elsewhere(Ranks.key("acme", "other")));
    }

    @Test
    void a_close_here_of_a_session_there_is_told() {
        shared.closeElsewhere(KEY);
        assertEquals(List.of(), told);
        shared.toldOpened(NAME, 9, 60, false);
        shared.closeElsewhere(KEY);
        assertEquals(List.of("closed 9"), told);
        assertNull(shared.elsewhere(KEY));
    }

    @Test
    void one_that_ends_by_its_time_is_told_with_the_next_sweep() {
        open();
        shared.sweep();
        assertEquals(1, told.size());
        pass(61);
        table.reap();
        shared.sweep();
        assertEquals("closed 1", told.getLast());
    }

    @Test
    void what_others_have_takes_no_more_room_than_given() {
        shared.toldOpened(new SessionName(5, 5), 1, 60, false);
        shared.toldOpened(new SessionName(6, 6), 1, 60, false);
        shared.toldOpened(NAME, 1, 60, false);
        assertNull(shared.elsewhere(KEY));
        pass(60);
        shared.sweep();
        shared.toldOpened(NAME, 1, 60, false);
        assertNotNull(shared.elsewhere(KEY));
    }

    @Test
    void a_session_that_is_adopted_counts_apart() {
        ControlledSession s = table.adopt(KEY, 60, false);
        assertNotNull(s);
        assertEquals(1, table.counted(Event.ADOPTED));
        assertEquals(0, table.counted(Event.OPENED));
        assertNotEquals(0, s.timeoutSeconds());
    }
}
