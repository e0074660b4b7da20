package io.warmpath.wiring.tokens;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TokenThreadsTest {
    private final CountDownLatch release = new CountDownLatch(1);

    @Test
    void lengthy_work_stands_in_nobodys_way() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch brief = new CountDownLatch(1);
        try (TokenThreads threads = new TokenThreads(1, 4)) {
            threads.lengthy(() -> hold(started));
            assertTrue(started.await(10, TimeUnit.SECONDS));
            threads.lengthy(() -> hold(new CountDownLatch(1)));
            threads.brief(brief::countDown);
            assertTrue(brief.await(10, TimeUnit.SECONDS), "it waits for the lengthy one");
            assertEquals(1, release.getCount());
            release.countDown();
        }
    }

    @Test
    void each_lane_has_a_queue_of_its_own_and_a_full_one_refuses_at_once() throws Exception {
        try (TokenThreads threads = new TokenThreads(1, 1)) {
            CountDownLatch started = new CountDownLatch(2);
            threads.lengthy(() -> hold(started));
            threads.brief(() -> hold(started));
            assertTrue(started.await(10, TimeUnit.SECONDS));
            threads.lengthy(() -> {});
            assertThrows(RejectedExecutionException.class, () -> threads.lengthy(() -> {}));
            threads.brief(() -> {});
            assertThrows(RejectedExecutionException.class, () -> threads.brief(() -> {}));
            release.countDown();
        }
    }

    private void hold(CountDownLatch started) {
        started.countDown();
        try {
            release.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
