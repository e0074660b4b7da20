package io.warmpath.gateway.selfcheck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.gateway.selfcheck.LengthRecord.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LengthRecordTest {
    @Test
    void trust_falls_and_rises_as_the_rule_says_in_any_history() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        LengthRecord record = new LengthRecord();
        List<Boolean> history = new ArrayList<>();
        boolean trusted = true;
        int turns = 0;
        for (int i = 0; i < 200_000; i++) {
            int mood = i / 50 % 3; // all right, all wrong, a mixture
            boolean differs = mood == 1 || (mood == 2 && random.nextInt(4) > 0);
            history.add(differs);
            List<Boolean> last = history.subList(Math.max(0, history.size() - 16), history.size());
            long wrong = last.stream().filter(d -> d).count();
            boolean now = trusted ? wrong < 12 : wrong == 0;
            Turn expected = now == trusted ? Turn.NONE : now ? Turn.WON : Turn.LOST;
            int at = i;
            assertEquals(expected, record.add(differs), () -> "answer " + at + ", seed " + seed);
            assertEquals(now, record.trusted());
            assertEquals(wrong, record.differing());
            turns += now == trusted ? 0 : 1;
            trusted = now;
        }
        assertTrue(turns > 100, "only " + turns + " turns");
    }

    @Test
    void of_many_threads_one_sees_the_turn() throws Exception {
        LengthRecord record = new LengthRecord();
        AtomicInteger lost = new AtomicInteger();
        CountDownLatch begin = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            threads.add(
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        try {
                                            begin.await();
                                        } catch (InterruptedException e) {
                                            throw new IllegalStateException(e);
                                        }
                                        for (int i = 0; i < 1000; i++) {
                                            if (record.add(true) == Turn.LOST) {
                                                lost.incrementAndGet();
                                            }
                                        }
                                    }));
        }
        begin.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(1, lost.get());
        assertFalse(record.trusted());
    }
}
