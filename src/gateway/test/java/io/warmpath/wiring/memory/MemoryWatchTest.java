package io.warmpath.wiring.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When memory is full, and when it is no longer. */
class MemoryWatchTest {
    private long nanos = -5;
    private long resident;
    private double heap;
    private int collections;
    private final List<Boolean> told = new ArrayList<>();

    private final MemoryWatch watch =
            new MemoryWatch(
                    1000,
                    new MemoryWatch.Readings() {
                        @Override
                        public long resident() {
                            return resident;
                        }

                        @Override
                        public double heapInUse() {
                            return heap;
                        }

                        @Override
                        public void collect() {
                            collections++;
                        }
                    },
                    told::add,
                    () -> nanos);

    private void look(long resident, double heap) {
        this.resident = resident;
        this.heap = heap;
        watch.look();
    }

    @Test
    void below_the_bound_nothing_happens() {
        look(799, 0.69);
        assertEquals(List.of(), told);
        assertEquals(0, collections);
        assertEquals(799, watch.resident());
    }

    @Test
    void near_the_bound_garbage_is_given_back_and_nobody_refused() {
        look(800, 0.1);
        assertEquals(1, collections);
        assertFalse(watch.full());
    }

    @Test
    void at_the_bound_requests_are_refused_until_there_is_room() {
        look(880, 0.1);
        assertTrue(watch.full());
        look(861, 0.1);
        assertTrue(watch.full());
        look(859, 0.1);
        assertFalse(watch.full());
        assertEquals(List.of(true, false), told);
        assertEquals(1, watch.shortages());
    }

    @Test
    void a_heap_in_use_is_full_whatever_is_resident() {
        look(100, 0.80);
        assertTrue(watch.full());
        look(100, 0.71);
        assertTrue(watch.full());
        look(100, 0.69);
        assertFalse(watch.full());
    }

    @Test
    void collections_are_asked_for_every_other_second_at_most() {
        for (int i = 0; i < 100; i++, nanos += Duration.ofMillis(100).toNanos()) {
            look(840, 0.1);
        }
        assertEquals(5, collections);
    }

    @Test
    void what_a_process_has_resident_is_read() {
        long mine = new ProcessMemory().resident();
        assertTrue(mine > 20L << 20 && mine < 64L << 30, "" + mine);
    }
}
