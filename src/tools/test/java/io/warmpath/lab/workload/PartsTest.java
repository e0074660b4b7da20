package io.warmpath.lab.workload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PartsTest {
    private static final int[] NOBODY = {};

    /** Conversations of three requests each, one every 100 ms. */
    private static Workload conversations(int count) {
        WorkloadBuilder to = new WorkloadBuilder(16);
        for (int c = 0; c < count; c++) {
            int id = to.newIds(1);
            int first = to.add(c, 100.0 * c, 20, 1, 0, NOBODY, new int[] {id});
            int second = to.add(c, 100.0 * c, 21, 2, 5, new int[] {first}, new int[] {id});
            to.add(c, 0, 22, 3, 6, new int[] {first, second}, new int[] {id});
        }
        return to.build();
    }

    @Test
    void both_parts_have_whole_conversations_and_together_all_of_them() {
        Workload whole = conversations(10);
        Workload first = Parts.first(whole, 0.3);
        Workload rest = Parts.rest(whole, 0.3);
        assertEquals(9, first.size());
        assertEquals(21, rest.size());
        assertEquals(200, first.spanMillis());
        assertEquals(600, rest.spanMillis(), "time begins with the first that is left");
        assertEquals(10, IntStream.of(rest.dependencies()).filter(d -> d > 0).count() - 4);
        assertTrue(Arrays.stream(first.session()).allMatch(s -> s < 3));
        assertTrue(Arrays.stream(rest.session()).allMatch(s -> s >= 3));
        for (int i = 0; i < rest.size(); i++) {
            for (int next : rest.dependents()[i]) {
                assertEquals(rest.session()[i], rest.session()[next]);
            }
        }
        assertArrayEquals(
                new int[] {0, 1, 2},
                IntStream.of(first.dependencies()).sorted().distinct().toArray());
    }

    @Test
    void a_draw_keeps_four_fifths_of_the_conversations_whole_and_differs_by_seed() {
        Workload whole = conversations(1000);
        Workload one = Parts.thinned(whole, 1);
        assertEquals(0, one.size() % 3);
        assertEquals(Parts.KEPT, one.size() / 3000.0, 0.05);
        assertArrayEquals(one.session(), Parts.thinned(whole, 1).session());
        assertTrue(!Arrays.equals(one.session(), Parts.thinned(whole, 2).session()));
    }

    @Test
    void what_is_too_small_is_said() {
        Workload one = conversations(1);
        assertThrows(IllegalArgumentException.class, () -> Parts.first(one, 0.5));
    }
}
