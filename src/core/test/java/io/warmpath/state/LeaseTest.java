package io.warmpath.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LeaseTest {
    private static final long LENGTH = 1000;

    private final SharedMemory keys = new SharedMemory();
    private long now = 5;

    private Lease lease(String holder) {
        return new Lease(keys, "lock", holder, LENGTH, () -> now);
    }

    @Test
    void one_of_two_gets_it_and_the_other_once_it_is_given_back() throws IOException {
        Lease a = lease("a");
        Lease b = lease("b");
        assertNull(a.holder());
        assertTrue(a.tryTake());
        assertTrue(a.tryTake(), "it has it");
        assertFalse(b.tryTake());
        assertEquals("a", b.holder());
        a.release();
        assertFalse(a.held());
        assertNull(b.holder());
        assertTrue(b.tryTake());
        assertFalse(a.tryTake());
        assertTrue(b.token() > a.token());
    }

    @Test
    void a_holder_that_renews_keeps_it_for_ever_and_its_token() throws IOException {
        Lease a = lease("a");
        Lease b = lease("b");
        assertTrue(a.tryTake());
        long token = a.token();
        for (int i = 0; i < 50; i++) {
            now += LENGTH / 2;
            assertTrue(a.renew());
            assertFalse(b.tryTake());
        }
        assertEquals(token, a.token());
    }

    @Test
    void a_dead_holders_lock_is_taken_after_more_time_than_it_believes_to_have()
            throws IOException {
        Lease a = lease("a");
        Lease b = lease("b");
        assertTrue(a.tryTake());
        now += 900;
        assertFalse(b.tryTake(), "seen for the first time");
        now += 1249;
        assertFalse(a.held());
        assertFalse(a.renew());
        assertFalse(b.tryTake());
        now += 1;
        assertTrue(b.tryTake());
        assertFalse(a.confirm());
        a.release();
        assertTrue(b.held());
        assertFalse(lease("c").tryTake(), "what lost it must not give it back");
    }

    @Test
    void a_write_whose_answer_was_lost_counts() throws IOException {
        Lease a = lease("a");
        keys.losesAnswer = true;
        assertTrue(a.tryTake());
        keys.losesAnswer = true;
        assertTrue(a.confirm());
        assertTrue(a.confirm());
        keys.step =
                call -> {
                    throw new IOException("away");
                };
        assertThrows(IOException.class, a::confirm);
        assertTrue(a.held(), "the store may come back in time");
    }

    @Test
    void never_do_two_hold_it_and_tokens_rise() throws IOException {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        System.out.println("LeaseTest -Dwarmpath.test.seed=" + seed);
        Random random = new Random(seed);
        List<Lease> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(lease("gateway-" + i));
        }
        long highest = 0;
        int taken = 0;
        int lost = 0;
        for (int i = 0; i < 50_000; i++) {
            now += random.nextInt(200);
            Lease one = all.get(random.nextInt(all.size()));
            boolean had = one.held();
            int what = random.nextInt(8);
            keys.losesAnswer = what != 0 && random.nextInt(50) == 0;
            switch (what) {
                case 0 -> one.release();
                case 1, 2, 3 -> lost += had && !one.renew() ? 1 : 0;
                case 4 -> one.confirm();
                default -> {
                    if (one.tryTake() && !had) {
                        assertTrue(one.token() > highest);
                        highest = one.token();
                        taken++;
                    }
                }
            }
            keys.losesAnswer = false;
            assertTrue(all.stream().filter(Lease::held).count() <= 1, "step " + i);
        }
        assertTrue(taken > 100, "taken " + taken);
        assertEquals(0, lost, "a holder that renews in time loses nothing");
    }
}
