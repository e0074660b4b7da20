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
    void a_stream_that_keeps_coming_keeps_its_load() {
        LoadBook.Booking stream = tracker.book(A, 100, 7);
        for (int i = 0; i < 10; i++) {
            nanos.addAndGet(Duration.ofSeconds(50).toNanos());
            stream.progress(i);
            tracker.expire();
        }
        assertEquals(new WorkerLoad(100, 7, 1), tracker.load(A));
        assertEquals(0, tracker.expired());

        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        tracker.expire();
        assertEquals(WorkerLoad.IDLE, tracker.load(A));
        assertEquals(1, tracker.expired());
        stream.progress(11); // late, harmless
        stream.close();
        assertEquals(WorkerLoad.IDLE, tracker.load(A));
    }

    @Test
    void blocks_of_a_common_prefix_count_once_per_rank() {
        PromptBlocks first = tracker.name("m", "", new int[] {1, 1, 2, 2, 3, 3, 4}, 2);
        PromptBlocks second = tracker.name("m", "", new int[] {1, 1, 2, 2, 9, 9}, 2);
        assertEquals(0, tracker.potential(List.of(second)).shared(A));
        LoadBook.Booking one = tracker.book(A, 7, first, 0);
        PotentialBlocks potential = tracker.potential(List.of(second));
        assertEquals(2, potential.shared(A));
        assertEquals(1, potential.added(A, second.total()));
        assertEquals(3, potential.added(B, second.total()));
        LoadBook.Booking two = tracker.book(A, 2, second, 0);
        assertEquals(new WorkerLoad(9, 5, 2), tracker.load(A));
        one.close();
        assertEquals(new WorkerLoad(2, 3, 1), tracker.load(A));
        two.close();
        assertEquals(0, tracker.stretches());
    }

    @Test
    void prompts_of_another_salt_or_model_share_nothing() {
        int[] tokens = {1, 2, 3, 4};
        tracker.book(A, 4, tracker.name("m", "", tokens, 2), 0);
        assertEquals(0, tracker.potential(List.of(tracker.name("m", "s", tokens, 2))).shared(A));
        assertEquals(0, tracker.potential(List.of(tracker.name("n", "", tokens, 2))).shared(A));
    }

    @Test
    void a_new_incarnation_shares_nothing_with_the_earlier_one() {
        PromptBlocks prompt = tracker.name("m", "", new int[] {1, 1, 2, 2}, 2);
        LoadBook.Booking old = tracker.book(A, 4, prompt, 0);
        tracker.forget(A);
        assertEquals(0, tracker.potential(List.of(prompt)).shared(A));
        LoadBook.Booking fresh = tracker.book(A, 4, prompt, 0);
        old.close();
        assertEquals(new WorkerLoad(4, 2, 1), tracker.load(A));
        assertEquals(2, tracker.potential(List.of(prompt)).shared(A));
        fresh.close();
        assertEquals(0, tracker.stretches());
    }

    @Test
    void an_answer_that_grows_counts_its_blocks_and_decays_towards_the_expected_length() {
        LoadTracker growing = tracker(new LoadOptions(Duration.ofMinutes(1), true, true, true));
        PromptBlocks prompt = growing.name("m", "", new int[] {1, 1, 2, 2}, 2);
        LoadBook.Booking one = growing.book(A, 4, prompt, 8);
        one.progress(1);
        // Two blocks of the prompt and one of output, each 7/8.
        assertEquals(3 * 7 / 8.0, growing.load(A).blocks(), 1e-9);
        one.progress(4);
        assertEquals(4 * 4 / 8.0, growing.load(A).blocks(), 1e-9);
        // The prompt's blocks are shared now, and whole again; the output is not.
        LoadBook.Booking two = growing.book(A, 0, prompt, 8);
        assertEquals(2 + 2 * 4 / 8.0, growing.load(A).blocks(), 1e-9);
        one.progress(100); // longer than expected: its own weigh nothing
        assertEquals(2, growing.load(A).blocks(), 1e-9);
        two.close();
        one.close();
        assertEquals(WorkerLoad.IDLE, growing.load(A));
    }

    @Test
    void who_knows_better_says_what_a_requests_own_blocks_count() {
        LoadTracker growing = tracker(new LoadOptions(Duration.ofMinutes(1), true, true, true));
        PromptBlocks prompt = growing.name("m", "", new int[] {1, 1, 2, 2}, 2);
        LoadBook.Booking one = growing.book(A, 4, prompt, 0);
        one.progress(2, 0.5);
        // Two blocks of the prompt and one of output.
        assertEquals(3 * 0.5, growing.load(A).blocks(), 1e-9);
        LoadBook.Booking two = growing.book(A, 0, prompt, 0);
        assertEquals(2 + 0.5, growing.load(A).blocks(), 1e-9);
        one.progress(4, 0.25);
        assertEquals(2 + 2 * 0.25, growing.load(A).blocks(), 1e-9);
        two.close();
        one.progress(4, 1);
        assertEquals(4, growing.load(A).blocks(), 1e-9);
        one.close();
        assertEquals(WorkerLoad.IDLE, growing.load(A));
    }

    @Test
    void what_is_not_tracked_is_not_booked() {
        LoadTracker none = tracker(new LoadOptions(Duration.ofMinutes(1), false, false, true));
        PromptBlocks prompt = none.name("m", "", new int[] {1, 1, 2, 2}, 2);
        none.book(A, 4, prompt, 0);
        assertEquals(new WorkerLoad(4, 0, 1), none.load(A));
        assertEquals(0, none.potential(List.of(prompt)).added(B, 2));

        LoadTracker apart = tracker(new LoadOptions(Duration.ofMinutes(1), true, false, false));
        prompt = apart.name("m", "", new int[] {1, 1, 2, 2}, 2);
        apart.book(A, 4, prompt, 0);
        apart.book(A, 4, prompt, 0);
        assertEquals(new WorkerLoad(8, 4, 2), apart.load(A));
    }

    @Test
    void a_request_may_say_otherwise_whether_its_blocks_are_shared() {
        int[] tokens = {1, 1, 2, 2};
        PromptBlocks shared = tracker.name("m", "", tokens, 2);
        PromptBlocks apart = shared.shared(false);
        tracker.book(A, 0, shared, 0);
        assertEquals(0, tracker.potential(List.of(shared)).added(A, 2));
        assertEquals(2, tracker.potential(List.of(apart)).added(A, 2));
        tracker.book(A, 0, apart, 0);
        assertEquals(4, tracker.load(A).blocks());
    }

    private LoadTracker tracker(LoadOptions options) {
        return new LoadTracker(nanos::get, options, 3);
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

    @Test
    void load_from_outside_counts_until_it_is_set_anew_or_the_slot_is_another_ones() {
        LoadTracker tracker = new LoadTracker();
        WorkerSlot slot = new WorkerSlot(3);
        tracker.forget(slot);
        LoadBook.Booking booking = tracker.book(slot, 10, 4);
        tracker.outside(slot, 2, 1.5);
        assertEquals(new WorkerLoad(10, 5.5, 3), tracker.load(slot));
        assertEquals(1, tracker.booked(slot));
        assertEquals(2, tracker.outside(slot));
        tracker.outside(slot, 1, 1);
        assertEquals(new WorkerLoad(10, 5, 2), tracker.load(slot));
        booking.close();
        tracker.forget(slot);
        assertEquals(WorkerLoad.IDLE, tracker.load(slot));
    }

    @Test
    void a_prefix_knows_how_many_requests_use_it_anywhere() {
        LoadTracker tracker = new LoadTracker();
        int[] a = {1, 2, 3, 4, 5, 6};
        int[] b = {1, 2, 3, 4, 9, 9};
        PotentialBlocks none = tracker.potential(List.of(tracker.name("m", "", a, 2)));
        assertEquals(0, none.users(2).stretches());
        LoadBook.Booking first = tracker.book(A, 0, tracker.name("m", "", a, 2), 0);
        LoadBook.Booking second = tracker.book(B, 0, tracker.name("m", "", b, 2), 0);
        PrefixUsers users = tracker.potential(List.of(tracker.name("m", "", a, 2))).users(2);
        assertEquals(2, users.stretches());
        assertEquals(List.of(2, 2), List.of(users.end(0), users.users(0)));
        assertEquals(List.of(3, 1), List.of(users.end(1), users.users(1)));
        assertEquals(
                0, tracker.potential(List.of(tracker.name("m", "", a, 2))).users(4).stretches());
        second.close();
        users = tracker.potential(List.of(tracker.name("m", "", b, 2))).users(2);
        assertEquals(List.of(1, 2, 1), List.of(users.stretches(), users.end(0), users.users(0)));
        first.close();
    }
}
