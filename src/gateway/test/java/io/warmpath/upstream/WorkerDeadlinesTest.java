package io.warmpath.upstream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.monitor.SignsOfLife;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who is heard, and who is silent for too long. */
class WorkerDeadlinesTest {
    private static final URI ILL = at("ill");

    private final SignsOfLife signs = new SignsOfLife();
    private final WorkerDeadlines deadlines = new WorkerDeadlines(signs);
    private final List<Integer> expired = new ArrayList<>();
    private final List<Integer> silent = new ArrayList<>();

    private static URI at(String worker) {
        return URI.create("http://" + worker + ":1");
    }

    private final class Call extends WorkerDeadlines.Entry {
        final int id;
        Runnable then = () -> {};

        Call(int id, long now, long timeout, String worker) {
            super(deadlines, at(worker));
            this.id = id;
            deadline(now, timeout);
            deadlines.add(this);
        }

        @Override
        void silent() {
            silent.add(id);
            then.run();
        }

        @Override
        void late() {
            expired.add(id);
        }
    }

    @Test
    void when_a_worker_was_heard_is_told_at_the_next_sweep_at_the_latest_with_its_deadline() {
        Call call = new Call(1, 5, 1_000, "w");
        deadlines.sweep(6);
        assertEquals(0, signs.last(at("w"), 0), "a question is no sign of life");
        call.heard(50, 1_000);
        assertEquals(0, signs.last(at("w"), 0));
        deadlines.sweep(60);
        assertEquals(50, signs.last(at("w"), 0));
        call.heard(70, 10);
        deadlines.sweep(90);
        assertEquals(List.of(1), expired);
        assertEquals(70, signs.last(at("w"), 0));
    }

    @Test
    void silence_of_a_worker_that_is_unwell_is_told_again_and_again() {
        new Call(1, 0, 1_000, "ill");
        new Call(2, 0, 1_000, "well");
        deadlines.sweep(500);
        deadlines.unwell(ILL, 500, 100);
        deadlines.sweep(600);
        assertEquals(List.of(), silent, "it has all of the time from then on");
        deadlines.sweep(601);
        deadlines.sweep(650);
        assertEquals(List.of(1), silent);
        deadlines.sweep(702);
        assertEquals(List.of(1, 1), silent);
        deadlines.sweep(1_001);
        assertEquals(List.of(1, 2), expired.stream().sorted().toList());
        assertEquals(2, silent.size(), "its own time-out comes first");
    }

    @Test
    void who_speaks_is_not_silent_and_may_fall_silent_again() {
        Call call = new Call(1, 0, 1_000, "ill");
        deadlines.unwell(ILL, 0, 100);
        call.deadline(90, 1_000);
        deadlines.sweep(150);
        assertEquals(List.of(), silent);
        deadlines.sweep(191);
        assertEquals(List.of(1), silent);
    }

    @Test
    void a_call_to_one_that_is_unwell_already_is_watched_and_nobody_is_once_it_is_well() {
        deadlines.unwell(ILL, 0, 100);
        new Call(1, 50, 1_000, "ill");
        deadlines.sweep(151);
        assertEquals(List.of(1), silent);
        deadlines.well(ILL);
        new Call(2, 200, 1_000, "ill");
        deadlines.sweep(900);
        assertEquals(List.of(1), silent);
    }

    @Test
    void silence_before_a_worker_has_left_counts_and_who_comes_to_its_address_changes_nothing() {
        Call old = new Call(1, 0, 1_000, "ill");
        deadlines.sweep(50);
        deadlines.left(ILL, 100);
        deadlines.sweep(101);
        assertEquals(List.of(1), silent, "it has been silent all the time");
        assertFalse(old.isLost());
        new Call(2, 110, 1_000, "ill"); // decided before it had left
        deadlines.well(ILL);
        Call next = new Call(3, 120, 1_000, "ill");
        deadlines.sweep(220);
        assertEquals(List.of(1, 1, 2), silent.stream().sorted().toList());
        deadlines.unwell(ILL, 220, 100);
        deadlines.sweep(300);
        assertEquals(3, silent.size(), "the next one has all of the time from then on");
        deadlines.lost(ILL, 100);
        assertTrue(old.isLost());
        assertFalse(next.isLost());
        deadlines.well(ILL);
        deadlines.sweep(330);
        assertEquals(List.of(1, 1, 1, 2, 2), silent.stream().sorted().toList());
    }

    @Test
    void a_call_to_a_worker_that_is_lost_is_lost() {
        deadlines.lost(ILL, 100);
        assertFalse(new Call(1, 0, 1_000, "ill").isLost(), "it had not left");
        deadlines.left(ILL, 100);
        deadlines.lost(ILL, 100);
        assertTrue(new Call(2, 0, 1_000, "ill").isLost());
    }

    @Test
    void who_is_told_of_silence_may_remove_others() {
        Call a = new Call(1, 0, 1_000, "ill");
        Call b = new Call(2, 0, 1_000, "ill");
        Call c = new Call(3, 0, 1_000, "ill");
        deadlines.unwell(ILL, 0, 100);
        c.then = () -> deadlines.remove(b);
        for (int i = 1; i <= 3; i++) {
            deadlines.sweep(100 + i);
        }
        assertEquals(List.of(3, 1), silent);
        deadlines.remove(a);
        deadlines.remove(c);
    }
}
