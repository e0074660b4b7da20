package io.warmpath.sim.virtual;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class VirtualTimeTest {
    @Test
    void events_happen_in_the_order_of_their_times_and_then_of_their_entry() {
        VirtualTime time = new VirtualTime();
        SplittableRandom random = new SplittableRandom(3);
        List<String> happened = new ArrayList<>();
        List<long[]> entered = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            int number = i;
            long at = random.nextInt(100);
            entered.add(new long[] {at, i});
            time.at(at, () -> happened.add(time.nanos() + " " + number));
        }
        while (time.step()) {
            // until nothing is left
        }
        entered.sort((a, b) -> a[0] == b[0] ? Long.compare(a[1], b[1]) : Long.compare(a[0], b[0]));
        assertEquals(entered.stream().map(e -> e[0] + " " + e[1]).toList(), happened);
        assertFalse(time.step());
    }

    @Test
    void a_time_that_has_passed_means_now() {
        VirtualTime time = new VirtualTime();
        List<Long> at = new ArrayList<>();
        time.at(50, () -> time.at(10, () -> at.add(time.nanos())));
        while (time.step()) {
            // until nothing is left
        }
        assertEquals(List.of(50L), at);
    }
}
