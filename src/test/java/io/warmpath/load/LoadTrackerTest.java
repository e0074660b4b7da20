package io.warmpath.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.prefix.WorkerSlot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LoadTrackerTest {
    private static final WorkerSlot A = new WorkerSlot(0);
    private static final WorkerSlot B = new WorkerSlot(1);

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // wraps in the tests
    private final LoadTracker tracker = new LoadTracker(nanos::get, Duration.ofMinutes(1));

    @Test
    void an_unknown_slot_is_idle() {
        assertEquals(WorkerLoad.IDLE, tracker.load(A));
        assertEquals(WorkerLoad.IDLE, tracker.load(new WorkerSlot(100_000)));
        assertEquals(0, tracker.open());
    }

    @Test
    void a_booking_counts_prefill_until_the_first_token_and_blocks_until_the_end() {
        LoadBook.Booking booking = tracker.book(A, 100, 7);
        assertEquals(new WorkerLoad(100, 7, 1), tracker.load(A));
        booking.firstToken();
        assertEquals(new WorkerLoad(0, 7, 1), tracker.load(A));
        assertEquals(1, tracker.open());
        booking.close();
        assertEquals(WorkerLoad.IDLE, tracker.load(A));
        assertEquals(0, tracker.open());
    }

    @Test
    void bookings_add_up_per_slot() {
        tracker.book(A, 10, 1);
        LoadBook.Booking second = tracker.book(A, 20, 2);
        tracker.book(B, 40, 4);
        assertEquals(new WorkerLoad(30, 3, 2), tracker.load(A));
        assertEquals(new WorkerLoad(40, 4, 1), tracker.load(B));
        second.close();
        assertEquals(new WorkerLoad(10, 1, 1), tracker.load(A));
    }

    @Test
    void closing_without_a_first_token_frees_the_prefill_too() {
        tracker.book(A, 100, 7).close();
        assertEquals(WorkerLoad.IDLE, tracker.load(A));
    }

    @Test
    void repeated_steps_change_nothing() {
        tracker.book(A, 1000, 1000);
        LoadBook.Booking booking = tracker.book(A, 100, 7);
        booking.firstToken();
        booking.firstToken();
        assertEquals(new WorkerLoad(1000, 1007, 2), tracker.load(A));
        booking.close();
        booking.close();
        booking.firstToken();
        assertEquals(new WorkerLoad(1000, 1000, 1), tracker.load(A));
        assertEquals(1, tracker.open());
    }

    @Test
    void slots_beyond_the_first_table_keep_what_was_booked_before() {
        LoadBook.Booking before = tracker.book(A, 3, 3);
        WorkerSlot far = new WorkerSlot(4095);
        tracker.book(far, 5, 5);
        assertEquals(new WorkerLoad(5, 5, 1), tracker.load(far));
        assertEquals(new WorkerLoad(3, 3, 1), tracker.load(A));
        before.close();
        assertEquals(WorkerLoad.IDLE, tracker.load(A));
    }

    @Test
    void a_booking_of_an_earlier_incarnation_never_touches_the_next_one() {
        LoadBook.Booking old = tracker.book(A, 100, 7);
        tracker.forget(A);
        assertEquals(WorkerLoad.IDLE, tracker.load(A));
        LoadBook.Booking fresh = tracker.book(A, 10, 1);
        old.firstToken();
        old.close();
        assertEquals(new WorkerLoad(10, 1, 1), tracker.load(A));
        fresh.close();
        assertEquals(WorkerLoad.IDLE, tracker.load(A));
        assertEquals(0, tracker.open());
    }

    @Test
    void forgetting_one_slot_leaves_the_others() {
        tracker.book(B, 4, 4);
        tracker.forget(A);
        tracker.forget(new WorkerSlot(1000));
        assertEquals(new WorkerLoad(4, 4, 1), tracker.load(B));
    }

    @Test
    void a_forgotten_booking_expires_and_is_counted() {
        LoadBook.Booking forgotten = tracker.book(A, 100, 7);
        nanos.addAndGet(Duration.ofSeconds(59).toNanos());
        LoadBook.Booking young = tracker.book(A, 1, 1); // sweeps: nothing is old enough
        assertEquals(new WorkerLoad(101, 8, 2), tracker.load(A));
        assertEquals(0, tracker.expired());

        nanos.addAndGet(Duration.ofSeconds(1).toNanos());
        tracker.book(B, 1, 1); // sweeps
        assertEquals(new WorkerLoad(1, 1, 1), tracker.load(A));
        assertEquals(1, tracker.expired());
        assertEquals(2, tracker.open());

        forgotten.close(); // late, harmless
        young.close();
        assertEquals(WorkerLoad.IDLE, tracker.load(A));
        assertEquals(1, tracker.expired());
    }

    @Test
    void expiry_can_be_asked_for_when_nothing_is_booked() {
        tracker.book(A, 100, 7);
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        tracker.expire();
        assertEquals(WorkerLoad.IDLE, tracker.load(A));
        assertEquals(0, tracker.open());
        assertEquals(1, tracker.expired());
    }

    @Test
    void closed_bookings_are_not_kept() {
        List<LoadBook.Booking> bookings = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            bookings.add(tracker.book(A, i, i));
        }
        assertEquals(10_000, tracker.open());
        bookings.forEach(LoadBook.Booking::close);
        assertEquals(0, tracker.open());
        nanos.addAndGet(Duration.ofMinutes(2).toNanos());
        tracker.expire();
        assertEquals(0, tracker.expired());
    }

    @Test
    void negative_bookings_and_expiries_are_refused() {
        assertThrows(IllegalArgumentException.class, () -> tracker.book(A, -1, 0));
        assertThrows(IllegalArgumentException.class, () -> tracker.book(A, 0, -1));
        assertThrows(
                IllegalArgumentException.class,
                () -> new LoadTracker(System::nanoTime, Duration.ZERO));
    }
}
