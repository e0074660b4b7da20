package io.warmpath.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The list of deadlines against a plain set. */
class DeadlinesTest {
    private final Deadlines deadlines = new Deadlines();
    private final List<Integer> expired = new ArrayList<>();

    private final class Call extends Deadlines.Entry {
        final int id;
        Runnable then = () -> {};

        Call(int id, long deadline) {
            this.id = id;
            deadline(0, deadline);
            deadlines.add(this);
        }

        @Override
        protected void expired() {
            expired.add(id);
            then.run();
        }
    }

    @Test
    void only_what_is_due_expires_and_only_once() {
        Call first = new Call(1, 10);
        Call second = new Call(2, 20);
        deadlines.sweep(10);
        assertEquals(List.of(), expired);
        deadlines.sweep(11);
        assertEquals(List.of(1), expired);
        first.deadline(0, 0);
        deadlines.sweep(12);
        assertEquals(List.of(1), expired);
        second.deadline(0, 100);
        deadlines.sweep(50);
        assertEquals(List.of(1), expired);
        deadlines.sweep(101);
        assertEquals(List.of(1, 2), expired);
    }

    @Test
    void the_clock_may_wrap_around() {
        new Call(1, Long.MIN_VALUE + 5);
        deadlines.sweep(Long.MAX_VALUE - 5);
        assertEquals(List.of(), expired);
        deadlines.sweep(Long.MIN_VALUE + 6);
        assertEquals(List.of(1), expired);
    }

    @Test
    void an_expiry_may_add_and_remove_others() {
        Call a = new Call(1, 1);
        Call b = new Call(2, 1);
        Call c = new Call(3, 1);
        c.then = () -> deadlines.remove(b);
        a.then = () -> new Call(4, 1);
        for (int i = 0; i < 3; i++) {
            deadlines.sweep(5);
        }
        assertEquals(List.of(1, 3, 4), expired.stream().sorted().toList());
    }

    @Test
    void random_operations_agree_with_a_set() {
        long seed = 7;
        Random random = new Random(seed);
        List<Call> calls = new ArrayList<>();
        TreeSet<Integer> live = new TreeSet<>();
        for (int i = 0; i < 2000; i++) {
            if (random.nextInt(3) > 0 || calls.isEmpty()) {
                calls.add(new Call(i, 10));
                live.add(i);
            } else {
                Call gone = calls.get(random.nextInt(calls.size()));
                deadlines.remove(gone);
                live.remove(gone.id);
            }
        }
        deadlines.sweep(11);
        assertEquals(live, new TreeSet<>(expired), "seed " + seed);
        assertEquals(live.size(), expired.size(), "seed " + seed);
    }
}
