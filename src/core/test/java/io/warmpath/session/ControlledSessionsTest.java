package io.warmpath.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.SessionSupport;
import io.warmpath.fleet.Worker;
import io.warmpath.session.ControlledSession.Place;
import io.warmpath.session.ControlledSessions.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ControlledSessionsTest {
    private static final SessionKey KEY = Ranks.key("acme", "s1");
    private static final List<Candidate> RANKS = Ranks.first(2);

    private long now = 7_000_000_000L;
    private final List<Place> closed = new ArrayList<>();
    private final ControlledSessions table = table(3, 0.5);

    private ControlledSessions table(int max, double pinned) {
        return new ControlledSessions(
                new ControlledSessions.Options(max, 100, 150, pinned), () -> now, closed::add);
    }

    private void pass(int seconds) {
        now += Duration.ofSeconds(seconds).toNanos();
    }

    private ControlledSession open(SessionKey key) {
        ControlledSession s = table.open(key, 60, false);
        assertNotNull(s);
        return s;
    }

    private Place held(ControlledSession s, int[] prompt, int... answer) {
        Place at = table.bind(s, RANKS.getFirst(), SessionSupport.STREAMING);
        assertEquals(0, s.take(prompt));
        table.appended(s, at, prompt, answer);
        return at;
    }

    private static int[] ids(int... ids) {
        return ids;
    }

    @Test
    void a_turn_is_appended_where_its_prompt_goes_on() {
        ControlledSession s = open(KEY);
        Place at = held(s, ids(1, 2, 3), 4, 5);
        assertEquals(5, s.take(ids(1, 2, 3, 4, 5, 6)));
        assertEquals(ControlledSession.BUSY, s.take(ids(1, 2, 3, 4, 5, 6)), "one at a time");
        table.appended(s, at, ids(1, 2, 3, 4, 5, 6), ids(7));
        assertEquals(7, table.pinned(at.slot()));
        assertEquals(ControlledSession.DIVERGED, s.take(ids(1, 2, 3, 4, 5, 6, 8, 9)));
        assertEquals(ControlledSession.DIVERGED, s.take(ids(1, 2, 3, 4, 5, 6, 7)), "nothing new");
        assertEquals(7, s.take(ids(1, 2, 3, 4, 5, 6, 7, 0)));
    }

    @Test
    void what_is_held_is_told_apart_from_all_that_differs_in_one_id() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int[] prompt = random.ints(500).toArray();
        ControlledSession s = open(KEY);
        held(s, prompt, 9);
        for (int i = 0; i < prompt.length; i++) {
            int[] other = IntStream.concat(IntStream.of(prompt), IntStream.of(9, 10)).toArray();
            other[i] ^= 1 << random.nextInt(32);
            assertEquals(ControlledSession.DIVERGED, s.take(other), "seed " + seed);
        }
    }

    @Test
    void a_session_that_leaves_is_closed_and_pins_nothing() {
        ControlledSession s = open(KEY);
        Place first = held(s, ids(1, 2, 3), 4);
        Place second = table.bind(s, RANKS.get(3), SessionSupport.STREAMING);
        assertEquals(List.of(first.serial()), closed.stream().map(Place::serial).toList());
        assertNotEquals(first.serial(), second.serial(), "an old close must not meet it");
        assertEquals(0, table.pinned(first.slot()));
        table.appended(s, first, ids(1, 2, 3), ids(4));
        assertEquals(0, table.pinned(first.slot()), "an answer that comes too late");
        assertTrue(s.isAt(RANKS.get(3)) && !s.isAt(RANKS.getFirst()));
        assertEquals(0, s.take(ids(1)), "the new one holds nothing");
    }

    @Test
    void a_session_that_only_stays_is_no_business_of_an_engine() {
        ControlledSession s = open(KEY);
        table.bind(s, RANKS.getFirst(), SessionSupport.STICKY);
        table.release(s);
        assertEquals(List.of(), closed);
    }

    @Test
    void an_idle_session_ends_after_its_own_time_but_not_in_a_turn() {
        ControlledSession s = open(KEY);
        held(s, ids(1), 2);
        pass(100);
        table.reap();
        assertSame(s, table.find(KEY), "its first turn still runs");
        table.ended(s);
        pass(59);
        table.reap();
        assertSame(s, table.find(KEY));
        table.began(s);
        table.ended(s);
        pass(59);
        assertSame(s, table.find(KEY));
        pass(1);
        assertNull(table.find(KEY), "also before anybody has reaped it");
        assertEquals(1, closed.size());
        assertEquals(1, table.counted(Event.EXPIRED));
        assertEquals(0, table.size());
    }

    @Test
    void a_name_that_is_opened_again_is_another_session() {
        ControlledSession s = open(KEY);
        held(s, ids(1), 2);
        ControlledSession again = open(KEY);
        assertEquals(1, closed.size());
        assertFalse(table.isThere(KEY, s));
        assertSame(again, table.find(KEY));
        assertEquals(1, table.size());
    }

    @Test
    void a_hundred_thousand_take_little() {
        double bytes = SessionMemory.usual();
        // G1 rounds the table up to whole regions, which are 10 bytes a session in a small heap.
        assertTrue(bytes > 100 && bytes < 213, () -> bytes + " bytes a session");
    }

    @Test
    void tenants_have_sessions_of_their_own() {
        ControlledSession s = open(KEY);
        assertNull(table.find(Ranks.key("other", "s1")));
        assertNull(table.find(Ranks.key("", "s1")));
        ControlledSession other = open(Ranks.key("other", "s1"));
        assertNotEquals(s, other);
        assertEquals(2, table.list(10, "s1").size());
        assertEquals(2, table.closeAll("s1"));
        assertEquals(0, table.size());
    }

    @Test
    void there_is_a_limit() {
        open(Ranks.key("", "a"));
        open(Ranks.key("", "b"));
        open(Ranks.key("", "c"));
        assertNull(table.open(Ranks.key("", "d"), 60, false));
        assertEquals(1, table.counted(Event.REFUSED));
        open(Ranks.key("", "c"));
        assertEquals(3, table.size());
    }

    @Test
    void a_rank_pins_no_more_than_its_part() {
        Candidate rank = sized(RANKS.getFirst(), 10); // 160 tokens, half of them
        ControlledSession s = open(KEY);
        assertTrue(table.mayPin(rank, 80));
        assertFalse(table.mayPin(rank, 81));
        Place at = table.bind(s, rank, SessionSupport.STREAMING);
        s.take(new int[50]);
        table.appended(s, at, new int[50], ids(1, 2));
        assertTrue(table.mayPin(rank, 28));
        assertFalse(table.mayPin(rank, 29));
        assertTrue(table.pin(rank, 20));
        assertFalse(table.pin(rank, 9), "also what is being generated");
        assertTrue(table.pin(rank, 8));
        table.unpin(at, 28);
        table.release(s);
        assertTrue(table.mayPin(rank, 80));
        assertFalse(table.mayPin(RANKS.getFirst(), 1), "nobody knows how many it has");
        assertFalse(table(3, 0).mayPin(rank, 1));
    }

    private static Candidate sized(Candidate c, int blocks) {
        Worker w = c.worker();
        return new Candidate(
                w.toBuilder().capacity(new Capacity(0, blocks)).build(), c.dpRank(), c.slot());
    }

    @Test
    void conversations_are_kept_within_both_limits() {
        ControlledSession a = open(Ranks.key("", "a"));
        ControlledSession b = open(Ranks.key("", "b"));
        table.keep(a, new byte[100]);
        assertEquals(100, a.conversation().length);
        table.keep(b, new byte[51]);
        assertEquals(0, b.conversation().length, "all together");
        table.keep(b, new byte[50]);
        assertArrayEquals(new byte[50], b.conversation());
        table.keep(a, new byte[101]);
        assertEquals(0, a.conversation().length, "one alone");
        assertEquals(50, table.conversationBytes());
        assertEquals(2, table.counted(Event.NOT_KEPT));
        table.keep(a, new byte[100]);
        table.keep(a, new byte[90]);
        assertEquals(90, a.conversation().length, "its own older one makes room");
        table.forget(b);
        assertEquals(90, table.conversationBytes());
        assertEquals(3, table.counted(Event.NOT_KEPT));
        table.release(a);
        table.keep(a, new byte[10]);
        assertEquals(0, table.conversationBytes(), "of one that is closed");
    }

    @Test
    void clients_that_bring_their_history_leave_half_of_the_room_to_others() {
        ControlledSession brings = open(Ranks.key("", "a"));
        ControlledSession needs = open(Ranks.key("", "b"));
        table.bringsHistory(brings);
        table.keep(brings, new byte[75]);
        assertEquals(75, brings.conversation().length);
        table.keep(brings, new byte[76]);
        assertEquals(0, brings.conversation().length, "more than half");
        assertEquals(0, table.counted(Event.NOT_KEPT), "nobody misses it");
        table.keep(brings, new byte[75]);
        table.keep(needs, new byte[75]);
        assertEquals(150, table.conversationBytes());
    }
}
