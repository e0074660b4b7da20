package io.warmpath.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.load.Booked;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ChangeQueueTest {
    private static final int THREADS = 4;
    private static final int REQUESTS = 40_000;

    private final AtomicInteger wakes = new AtomicInteger();

    private LoadTracker tracker(ChangeQueue queue) {
        return new LoadTracker(System::nanoTime, LoadOptions.DEFAULT, 1, queue);
    }

    /** The race is between a change and the look at the one before it. */
    @Test
    void the_last_change_of_every_booking_is_seen() throws Exception {
        ChangeQueue queue = new ChangeQueue(1 << 20, wakes::incrementAndGet);
        LoadTracker tracker = tracker(queue);
        Map<Booked, Boolean> over = new HashMap<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<?>> running = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                running.add(threads.submit(() -> requests(tracker)));
            }
            while (!running.stream().allMatch(Future::isDone)) {
                look(queue, over);
            }
            for (Future<?> r : running) {
                r.get();
            }
        }
        look(queue, over);
        assertEquals(0, queue.dropped());
        assertEquals(THREADS * REQUESTS, over.size());
        assertFalse(over.containsValue(false), "a booking ended unseen");
    }

    private static void requests(LoadTracker tracker) {
        for (int i = 0; i < REQUESTS; i++) {
            LoadBook.Booking booking = tracker.book(new WorkerSlot(i % 3), 1, 1);
            booking.firstToken();
            booking.close();
        }
    }

    private static void look(ChangeQueue queue, Map<Booked, Boolean> over) {
        for (Booked b = queue.poll(); b != null; b = queue.poll()) {
            b.taken();
            over.put(b, b.over());
        }
    }

    @Test
    void one_booking_takes_one_place_however_often_it_changes() {
        ChangeQueue queue = new ChangeQueue(4, wakes::incrementAndGet);
        LoadTracker tracker = tracker(queue);
        LoadBook.Booking booking = tracker.book(new WorkerSlot(0), 1, 1);
        booking.firstToken();
        booking.close();
        assertTrue(queue.poll() != null && queue.poll() == null);
    }

    @Test
    void a_full_queue_refuses_counts_and_takes_again() {
        ChangeQueue queue = new ChangeQueue(4, wakes::incrementAndGet);
        LoadTracker tracker = tracker(queue);
        List<LoadBook.Booking> all = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            all.add(tracker.book(new WorkerSlot(0), 1, 1));
        }
        assertEquals(1, queue.dropped());
        Booked first = queue.poll();
        assertTrue(first != null);
        all.get(4).firstToken(); // was refused, so it is told again
        assertEquals(1, queue.dropped());
        int left = 0;
        while (queue.poll() != null) {
            left++;
        }
        assertEquals(4, left);
    }

    @Test
    void whoever_sleeps_is_woken_once_and_only_then() {
        ChangeQueue queue = new ChangeQueue(4, wakes::incrementAndGet);
        LoadTracker tracker = tracker(queue);
        tracker.book(new WorkerSlot(0), 1, 1);
        assertEquals(0, wakes.get());
        assertFalse(queue.sleeping(), "something is there");
        queue.poll();
        assertTrue(queue.sleeping());
        tracker.book(new WorkerSlot(0), 1, 1);
        tracker.book(new WorkerSlot(0), 1, 1);
        assertEquals(1, wakes.get());
    }
}
