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
    private static final long MIB = 1 << 20;
    private static final long LIMIT = 4000 * MIB;

    private long nanos = -5;
    private long resident;
    private double heap;
    private int collections;
    private long processors;
    private long garbage; // of what is resident
    private final List<Boolean> told = new ArrayList<>();

    private final MemoryWatch watch =
            new MemoryWatch(
                    LIMIT,
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
                        public long processors() {
                            return processors;
                        }

                        @Override
                        public void collect() {
                            collections++;
                            resident -= garbage;
                            garbage = 0;
                        }
                    },
                    told::add,
                    () -> nanos);

    /** {@code resident}: thousandths of the limit. */
    private void look(long resident, double heap) {
        this.resident = resident * 4 * MIB;
        this.heap = heap;
        watch.look();
    }

    @Test
    void below_the_bound_nothing_happens() {
        look(799, 0.69);
        assertEquals(List.of(), told);
        assertEquals(0, collections);
        assertEquals(799 * 4 * MIB, watch.resident());
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
            processors += Duration.ofMillis(100).toNanos();
            look(840, 0.1);
        }
        assertEquals(5, collections);
    }

    /** Ten seconds of looks, with so much of one processor in use. */
    private void tenSeconds(double busy) {
        for (int i = 0; i < 100; i++) {
            nanos += Duration.ofMillis(100).toNanos();
            processors += (long) (Duration.ofMillis(100).toNanos() * busy);
            watch.look();
        }
    }

    @Test
    void a_process_that_has_little_to_do_gives_back_what_its_load_has_left() {
        resident = 150 * MIB;
        tenSeconds(0.1); // what the start has left
        assertEquals(1, collections);
        resident = 1000 * MIB;
        garbage = 840 * MIB;
        tenSeconds(1.9);
        tenSeconds(0.3);
        assertEquals(1, collections, "nothing while it has to do");
        tenSeconds(0.1);
        assertEquals(2, collections);
        garbage = 8 * MIB; // was still in use
        tenSeconds(0.1);
        assertEquals(3, collections, "once more, as the last one was worth it");
        tenSeconds(0.1);
        assertEquals(3, collections, "and nothing was gained");
        resident = 186 * MIB;
        tenSeconds(0.1);
        assertEquals(4, collections, "32 MiB more");
    }

    @Test
    void a_load_that_was_starved_is_collected_behind_its_end() {
        resident = 1000 * MIB; // all of it lives
        tenSeconds(0.1);
        assertEquals(1, collections);
        garbage = 800 * MIB;
        tenSeconds(0.1);
        tenSeconds(0.1);
        assertEquals(2, collections);
        assertEquals(200 * MIB, resident);
    }

    @Test
    void where_nothing_is_gained_it_is_tried_less_and_less() {
        resident = 1000 * MIB;
        for (int i = 0; i < 6 * 60 * 24; i++) {
            tenSeconds(0.1);
        }
        assertTrue(collections >= 24 && collections < 40, collections + " in a day");
    }

    @Test
    void where_much_lives_a_fifth_more_is_worth_a_collection_at_once() {
        resident = 1000 * MIB;
        tenSeconds(0);
        resident = 1190 * MIB;
        tenSeconds(0);
        assertEquals(1, collections);
        resident = 1210 * MIB;
        tenSeconds(0);
        assertEquals(2, collections);
    }

    @Test
    void a_process_whose_processors_are_not_known_is_never_idle() {
        processors = -1;
        resident = 1000 * MIB;
        for (int i = 0; i < 300; i++, nanos += Duration.ofMillis(100).toNanos()) {
            watch.look();
        }
        assertEquals(0, collections);
    }

    @Test
    void what_a_process_has_resident_is_read() {
        assertTrue(new ProcessMemory().processors() > 1_000_000);
        long mine = new ProcessMemory().resident();
        assertTrue(mine > 20L << 20 && mine < 64L << 30, "" + mine);
    }
}
