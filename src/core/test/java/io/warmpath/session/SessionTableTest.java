package io.warmpath.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.session.SessionTable.Turn;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SessionTableTest {
    private static final long SECOND = 1_000_000_000;
    private static final long IDLE = 300 * SECOND;

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 100 * SECOND); // will overflow
    private final List<Candidate> ranks = Ranks.first(3);
    private final SessionKey a = Ranks.key("", "a");

    private SessionTable table(int max) {
        return new SessionTable(
                new AffinityOptions(
                        Duration.ofMinutes(5),
                        AffinityOptions.Mode.HARD,
                        AffinityOptions.Placement.COST,
                        max),
                now::get);
    }

    @Test
    void a_session_is_bound_by_its_first_turn_and_kept_by_the_next() {
        SessionTable t = table(10);
        assertNull(t.bound(a, ranks));
        assertEquals(Turn.FIRST, t.use(a, ranks.get(3)));
        assertEquals(ranks.get(3), t.bound(a, ranks));
        assertEquals(Turn.KEPT, t.use(a, ranks.get(3)));
        SessionTable.Binding b = t.find("a").getFirst();
        assertEquals(1, b.worker());
        assertEquals(1, b.dpRank());
        assertEquals(2, b.turns());
    }

    @Test
    void a_turn_elsewhere_moves_it_for_good() {
        SessionTable t = table(10);
        t.use(a, ranks.get(0));
        assertEquals(Turn.MOVED, t.use(a, ranks.get(4)));
        assertEquals(ranks.get(4), t.bound(a, ranks));
        assertEquals(1, t.moved());
        assertEquals(1, t.find("a").getFirst().moves());
    }

    @Test
    void a_rank_that_is_not_there_binds_nobody_and_does_so_again_when_it_is_back() {
        SessionTable t = table(10);
        t.use(a, ranks.get(0));
        assertNull(t.bound(a, Ranks.of(1, 2)));
        assertEquals(ranks.get(0), t.bound(a, ranks));
    }

    @Test
    void the_idle_time_slides_and_ends_the_binding() {
        SessionTable t = table(10);
        t.use(a, ranks.get(0));
        now.addAndGet(IDLE - 1);
        assertEquals(ranks.get(0), t.bound(a, ranks));
        t.heard(a);
        now.addAndGet(IDLE - 1);
        assertEquals(ranks.get(0), t.bound(a, ranks));
        now.addAndGet(1);
        assertNull(t.bound(a, ranks));
        assertEquals(List.of(), t.find("a"));
        assertEquals(Turn.FIRST, t.use(a, ranks.get(1)));
        assertEquals(1, t.expired());
    }

    @Test
    void what_is_idle_goes_though_nobody_sends_any_more() {
        SessionTable t = table(1000);
        for (int i = 0; i < 100; i++) {
            t.use(Ranks.key("", "old" + i), ranks.get(0));
        }
        now.addAndGet(IDLE - 1);
        t.use(a, ranks.get(0));
        t.sweep();
        assertEquals(101, t.size());
        now.addAndGet(1);
        t.sweep();
        assertEquals(101, t.size(), "it was looked at a moment ago");
        now.addAndGet(IDLE / 16);
        t.sweep();
        assertEquals(1, t.size());
        assertEquals(100, t.expired());
    }

    @Test
    void two_tenants_with_one_id_have_two_sessions() {
        SessionTable t = table(10);
        t.use(a, ranks.get(0));
        SessionKey other = Ranks.key("secret", "a");
        assertNull(t.bound(other, ranks));
        t.use(other, ranks.get(1));
        assertEquals(ranks.get(0), t.bound(a, ranks));
        assertTrue(t.end(other));
        assertEquals(ranks.get(0), t.bound(a, ranks));
    }

    @Test
    void a_full_table_binds_nobody_more_and_says_so() {
        SessionTable t = table(2);
        t.use(Ranks.key("", "1"), ranks.get(0));
        t.use(Ranks.key("", "2"), ranks.get(0));
        assertEquals(Turn.UNBOUND, t.use(a, ranks.get(0)));
        assertEquals(1, t.refused());
        assertEquals(2, t.size());
        t.end(Ranks.key("", "1"));
        assertEquals(Turn.FIRST, t.use(a, ranks.get(0)));
    }

    @Test
    void an_operator_ends_every_session_of_an_id() {
        SessionTable t = table(10);
        t.use(a, ranks.get(0));
        t.use(Ranks.key("x", "a"), ranks.get(0));
        t.use(Ranks.key("", "b"), ranks.get(0));
        assertEquals(2, t.endAll("a"));
        assertEquals(0, t.endAll("a"));
        assertEquals(1, t.size());
        assertFalse(t.end(a));
    }

    /** Against a map that is swept before every step. */
    @Test
    void random_turns_agree_with_the_literal_rule() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        SessionTable t = table(1_000_000);
        Map<SessionKey, Candidate> oracle = new HashMap<>();
        Map<SessionKey, Long> heard = new HashMap<>();
        for (int step = 0; step < 20_000; step++) {
            now.addAndGet(random.nextLong(20 * SECOND));
            heard.values().removeIf(at -> now.get() - at >= IDLE);
            oracle.keySet().retainAll(heard.keySet());
            SessionKey key = Ranks.key("t" + random.nextInt(3), "s" + random.nextInt(40));
            String at = "seed " + seed + " step " + step;
            switch (random.nextInt(5)) {
                case 0 -> {
                    assertEquals(oracle.remove(key) != null, ends(t, key), at);
                    heard.remove(key);
                }
                case 1 -> {
                    if (oracle.containsKey(key)) {
                        t.heard(key);
                        heard.put(key, now.get());
                    }
                }
                default -> {
                    assertEquals(oracle.get(key), t.bound(key, ranks), at);
                    Candidate to = ranks.get(random.nextInt(ranks.size()));
                    Candidate before = oracle.put(key, to);
                    heard.put(key, now.get());
                    Turn expected =
                            before == null
                                    ? Turn.FIRST
                                    : before.equals(to) ? Turn.KEPT : Turn.MOVED;
                    assertEquals(expected, t.use(key, to), at);
                }
            }
        }
    }

    /** One whose time is over is not there, though the table may still have it. */
    private boolean ends(SessionTable t, SessionKey key) {
        boolean there = t.bound(key, ranks) != null;
        t.end(key);
        return there;
    }

    @Test
    void the_first_of_two_turns_at_once_wins_for_both() throws Exception {
        SessionTable t = table(100_000);
        CountDownLatch go = new CountDownLatch(1);
        AtomicLong firsts = new AtomicLong();
        Runnable turns =
                () -> {
                    try {
                        go.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    for (int i = 0; i < 20_000; i++) {
                        if (t.use(Ranks.key("", "s" + i), ranks.get(i % 6)) == Turn.FIRST) {
                            firsts.incrementAndGet();
                        }
                    }
                };
        Thread one = Thread.ofPlatform().start(turns);
        Thread two = Thread.ofPlatform().start(turns);
        go.countDown();
        one.join();
        two.join();
        assertEquals(20_000, firsts.get());
        assertEquals(20_000, t.size());
        assertEquals(0, t.moved());
        assertTrue(t.list(100_000).stream().allMatch(b -> b.turns() == 2));
    }
}
