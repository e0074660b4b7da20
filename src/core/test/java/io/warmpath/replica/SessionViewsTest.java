package io.warmpath.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.warmpath.fleet.Candidate;
import io.warmpath.session.SessionKey;
import io.warmpath.session.SessionTable.Turn;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bindings of sessions between gateways, in virtual time. */
class SessionViewsTest {
    private static final SessionKey KEY =
            new SessionKey(new SessionKey.Scope("m", "tenant"), "session");

    private final Replicas all = new Replicas(1);
    private Replicas.Gateway a;
    private Replicas.Gateway b;

    @BeforeEach
    void start() {
        a = all.join(1);
        b = all.join(2);
        all.run(200);
    }

    private static List<Candidate> ranks(Replicas.Gateway g) {
        return g.snapshot().candidates("m");
    }

    private static Turn turn(Replicas.Gateway g, int worker) {
        return g.affinity.sent(KEY, ranks(g).get(worker), ranks(g));
    }

    /** Worker that the session goes to at this gateway; -1: any. */
    private static int home(Replicas.Gateway g) {
        List<Candidate> left = g.affinity.narrow(KEY, ranks(g), c -> true);
        return left.size() == 1 ? (int) left.getFirst().worker().id() : -1;
    }

    @Test
    void a_session_bound_at_one_gateway_is_kept_at_the_other() {
        assertEquals(Turn.FIRST, turn(a, 2));
        assertEquals(-1, home(b));
        all.run(20);
        assertEquals(2, home(b));
        assertEquals(Turn.KEPT, turn(b, 2));
    }

    @Test
    void a_move_travels_and_so_does_the_end() {
        turn(a, 2);
        all.run(20);
        turn(b, 2);
        assertEquals(Turn.MOVED, turn(b, 3));
        all.run(20);
        assertEquals(3, home(a));
        a.affinity.ended(KEY, true);
        all.run(20);
        assertEquals(-1, home(b));
        assertEquals(0, b.table.size());
    }

    @Test
    void of_two_that_were_made_at_once_the_same_one_stays_on_both_sides() {
        turn(a, 3);
        turn(b, 1);
        all.run(20);
        assertEquals(1, home(a));
        assertEquals(1, home(b));
        assertEquals(Turn.KEPT, turn(a, 1));
    }

    @Test
    void what_was_lost_comes_again_with_a_later_turn() {
        all.drop = 1;
        turn(a, 2);
        all.run(20);
        all.drop = 0;
        all.run(500);
        turn(a, 2);
        all.run(20);
        assertEquals(-1, home(b), "told again only after a part of the idle time");
        all.run(600);
        turn(a, 2);
        all.run(20);
        assertEquals(2, home(b));
    }

    @Test
    void a_binding_of_others_ends_with_its_idle_time() {
        turn(a, 2);
        all.run(20);
        assertEquals(2, home(b));
        all.run(4_000);
        assertEquals(-1, home(b));
    }

    @Test
    void a_message_that_comes_late_does_not_undo_a_later_one() {
        all.jitterMillis = 15;
        all.twice = 0.5;
        for (int i = 0; i < 50; i++) {
            turn(a, i % 4);
            all.run(3);
        }
        all.jitterMillis = 0;
        all.run(1_100);
        turn(a, 1);
        all.run(30);
        assertEquals(home(a), home(b));
    }

    @Test
    void neither_tenant_nor_session_is_said_in_clear() {
        MessageWriter out = new MessageWriter(1 << 10);
        out.begin(Wire.SESSIONS);
        out.session(new SessionViews.News(a.sessions.name(KEY), Wire.SESSION_BOUND, 1, 0));
        String bytes = new String(out.bytes(), 0, out.length(), StandardCharsets.ISO_8859_1);
        assertFalse(bytes.contains("session") || bytes.contains("tenant"));
    }
}
