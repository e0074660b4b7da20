package io.warmpath.api.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class RawRequestsTest {
    @Test
    void none_begins_once_they_are_closed_and_those_that_run_are_waited_for() {
        RawRequests requests = new RawRequests();
        AtomicInteger idle = new AtomicInteger();
        assertTrue(requests.enter());
        assertTrue(requests.enter());
        requests.closed(idle::incrementAndGet);
        assertFalse(requests.enter());
        requests.exit();
        assertEquals(0, idle.get());
        requests.exit();
        assertEquals(1, idle.get());
        assertFalse(requests.enter());
        assertEquals(1, idle.get(), "told twice");
    }

    @Test
    void where_none_runs_the_word_comes_at_once() {
        RawRequests requests = new RawRequests();
        AtomicInteger idle = new AtomicInteger();
        requests.close();
        assertFalse(requests.enter());
        requests.closed(idle::incrementAndGet);
        assertEquals(1, idle.get());
    }

    @RepeatedTest(200)
    void the_word_comes_once_and_after_the_last_one() throws Exception {
        RawRequests requests = new RawRequests();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        AtomicInteger told = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(1);
        List<Thread> loops = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            loops.add(
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        while (requests.enter()) {
                                            inside.incrementAndGet();
                                            if (done.getCount() == 0) {
                                                wrong.incrementAndGet();
                                            }
                                            inside.decrementAndGet();
                                            requests.exit();
                                        }
                                    }));
        }
        requests.closed(
                () -> {
                    wrong.addAndGet(inside.get());
                    told.incrementAndGet();
                    done.countDown();
                });
        assertTrue(done.await(10, TimeUnit.SECONDS), "nobody was told");
        for (Thread loop : loops) {
            loop.join();
        }
        assertEquals(0, wrong.get());
        assertEquals(1, told.get());
        assertEquals(0, requests.running());
    }
}
