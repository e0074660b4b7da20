package io.warmpath.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Candidate;
import io.warmpath.session.AffinityOptions.Mode;
import io.warmpath.session.AffinityOptions.Placement;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;
import org.junit.jupiter.api.Test;

class AffinityTest {
    private static final XXHash64 XXH64 = XXHashFactory.fastestJavaInstance().hash64();

    private final List<Candidate> all = Ranks.first(4);
    private final SessionKey key = Ranks.key("t", "s");

    private static Affinity affinity(Mode mode, Placement placement) {
        AffinityOptions options =
                new AffinityOptions(Duration.ofMinutes(5), mode, placement, 100_000);
        return new Affinity(
                options,
                new Rendezvous((b, seed) -> XXH64.hash(b, 0, b.length, seed)),
                new SessionTable(options, () -> 0));
    }

    @Test
    void a_new_session_may_go_anywhere_and_then_only_there() {
        Affinity a = affinity(Mode.HARD, Placement.COST);
        assertSame(all, a.narrow(key, all, c -> true));
        a.sent(key, all.get(5), all);
        assertEquals(List.of(all.get(5)), a.narrow(key, all, c -> true));
        assertEquals(List.of(all.get(5)), a.narrow(key, all, c -> false), "hard: it waits");
    }

    @Test
    void a_soft_session_leaves_a_busy_rank_once_and_comes_back() {
        Affinity a = affinity(Mode.SOFT, Placement.COST);
        a.sent(key, all.get(5), all);
        assertSame(all, a.narrow(key, all, c -> !c.equals(all.get(5))));
        a.sent(key, all.get(0), all);
        assertEquals(List.of(all.get(5)), a.narrow(key, all, c -> true));
    }

    @Test
    void a_drained_worker_moves_its_sessions_once() {
        for (Mode mode : Mode.values()) {
            Affinity a = affinity(mode, Placement.RENDEZVOUS);
            Candidate home = a.narrow(key, all, c -> true).getFirst();
            a.sent(key, home, all);
            List<Candidate> others =
                    all.stream().filter(c -> c.worker().id() != home.worker().id()).toList();
            Candidate second = a.narrow(key, others, c -> true).getFirst();
            a.sent(key, second, others);
            assertEquals(List.of(second), a.narrow(key, all, c -> true), "home is back");
        }
    }

    @Test
    void the_last_turn_forgets_the_session() {
        Affinity a = affinity(Mode.HARD, Placement.COST);
        a.sent(key, all.get(5), all);
        a.ended(key, false);
        assertEquals(1, a.narrow(key, all, c -> true).size());
        a.ended(key, true);
        assertSame(all, a.narrow(key, all, c -> true));
    }

    @Test
    void gateways_that_never_talked_agree_on_every_session() {
        Affinity one = affinity(Mode.HARD, Placement.RENDEZVOUS);
        Affinity two = affinity(Mode.HARD, Placement.RENDEZVOUS);
        int[] load = new int[all.size()];
        List<Candidate> reversed = all.reversed();
        for (int i = 0; i < 8_000; i++) {
            SessionKey s = Ranks.key("", "session-" + i);
            Candidate to = one.narrow(s, all, c -> true).getFirst();
            assertEquals(to, two.narrow(s, reversed, c -> true).getFirst());
            load[all.indexOf(to)]++;
        }
        for (int n : load) {
            // 1,000 each; five standard deviations of a fair draw are 148
            assertTrue(Math.abs(n - 1_000) < 150, () -> Arrays.toString(load));
        }
    }

    @Test
    void only_the_sessions_of_a_rank_that_left_go_elsewhere() {
        Affinity a = affinity(Mode.HARD, Placement.RENDEZVOUS);
        List<Candidate> left = all.subList(0, 7);
        for (int i = 0; i < 2_000; i++) {
            SessionKey s = Ranks.key("", "session-" + i);
            Candidate before = a.narrow(s, all, c -> true).getFirst();
            Candidate after = a.narrow(s, left, c -> true).getFirst();
            assertTrue(before.equals(after) || before.equals(all.get(7)));
        }
    }

    /** As written down: anybody can compute it. */
    @Test
    void the_weight_is_the_documented_one() {
        byte[] name = "t\0s".getBytes(StandardCharsets.UTF_8);
        long seed = XXH64.hash(name, 0, name.length, 0);
        Candidate best = null;
        long most = 0;
        for (Candidate c : all) {
            byte[] b = new byte[12];
            for (int i = 0; i < 8; i++) {
                b[i] = (byte) (c.worker().id() >>> (8 * i));
            }
            b[8] = (byte) c.dpRank();
            long weight = XXH64.hash(b, 0, 12, seed);
            if (best == null || Long.compareUnsigned(weight, most) > 0) {
                best = c;
                most = weight;
            }
        }
        assertEquals(
                List.of(best),
                affinity(Mode.HARD, Placement.RENDEZVOUS).narrow(key, all, c -> true));
    }
}
