package io.warmpath.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

class BudgetTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long MINUTE = 60 * SECOND;

    @Test
    void no_more_than_the_limit_is_taken_at_once() {
        long now = Long.MAX_VALUE - 5 * SECOND; // the clock may run over
        Budget budget = new Budget(3, now);
        for (int i = 0; i < 3; i++) {
            assertEquals(3 - i, budget.remaining(now));
            assertEquals(0, budget.take(1, now));
        }
        assertEquals(0, budget.remaining(now));
        assertEquals(20 * SECOND, budget.take(1, now));
        assertEquals(MINUTE, budget.untilFull(now));
        assertEquals(0, budget.take(1, now + 20 * SECOND));
        assertEquals(20 * SECOND, budget.take(1, now + 20 * SECOND));
    }

    @Test
    void what_was_used_beyond_is_a_debt_and_what_was_not_comes_back() {
        Budget budget = new Budget(600, 0);
        assertEquals(0, budget.take(100, 0));
        budget.charge(700, 0); // 800 of 600
        assertEquals(0, budget.remaining(0));
        assertEquals((200 + 1) * MINUTE / 600, budget.take(1, 0));
        budget.charge(-300, 0);
        assertEquals(100, budget.remaining(0));
        budget.charge(-10_000, 0);
        assertEquals(600, budget.remaining(0), "never more than all");
    }

    @Test
    void one_that_wants_more_than_the_limit_waits_for_all_of_it() {
        Budget budget = new Budget(60, 0);
        assertEquals(0, budget.take(1, 0));
        assertEquals(SECOND, budget.take(1_000, 0));
        assertEquals(0, budget.take(1_000, SECOND));
    }

    @Test
    void in_any_minute_at_most_twice_the_limit_is_let_through() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int limit = 1 + random.nextInt(500);
        Budget budget = new Budget(limit, 0);
        long now = 0;
        long taken = 0;
        for (int i = 0; i < 20_000; i++) {
            now += (long) (random.nextDouble() * random.nextInt(50) * SECOND / 1000);
            taken += budget.take(1, now) == 0 ? 1 : 0;
            double allowed = limit + (double) now * limit / MINUTE;
            assertTrue(taken <= allowed + 1, "seed " + seed + " at " + i);
        }
        assertTrue(taken >= (long) ((double) now * limit / MINUTE * 0.5), "seed " + seed);
    }

    @Test
    void threads_together_take_no_more_than_one_would() throws Exception {
        Budget budget = new Budget(1_000, 0);
        LongAdder taken = new LongAdder();
        CountDownLatch go = new CountDownLatch(1);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] =
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        try {
                                            go.await();
                                        } catch (InterruptedException e) {
                                            return;
                                        }
                                        for (int n = 0; n < 1_000; n++) {
                                            if (budget.take(1, 0) == 0) {
                                                taken.increment();
                                            }
                                        }
                                    });
        }
        go.countDown();
        for (Thread t : threads) {
            t.join();
        }
        assertEquals(1_000, taken.sum());
    }
}
