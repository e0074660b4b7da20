package io.warmpath.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.fleet.LatencyWatch.Sample;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LatencyWatchTest {
    private final LatencyWatch watch = new LatencyWatch(BreakerTest.OPTIONS);

    private static Sample of(long worker, String model, int count, double seconds, int tokens) {
        return new Sample(
                worker,
                Set.of(model),
                count,
                (long) (count * seconds * 1e9),
                (long) count * tokens);
    }

    @Test
    void who_is_far_slower_than_the_median_of_its_peers_stands_out() {
        assertEquals(
                Map.of(3L, 10.0),
                watch.outliers(
                        List.of(
                                of(1, "m", 10, 0.4, 500),
                                of(2, "m", 10, 0.2, 500),
                                of(3, "m", 10, 3, 500),
                                of(4, "m", 10, 0.3, 500))));
    }

    @Test
    void long_prompts_are_no_slowness() {
        assertEquals(
                Map.of(),
                watch.outliers(List.of(of(1, "m", 10, 0.2, 500), of(2, "m", 10, 6, 29_500))));
    }

    @Test
    void quick_answers_few_samples_and_other_models_are_not_compared() {
        assertEquals(
                Map.of(),
                watch.outliers(List.of(of(1, "m", 10, 0.01, 0), of(2, "m", 10, 0.9, 0))),
                "below the floor");
        assertEquals(
                Map.of(),
                watch.outliers(List.of(of(1, "m", 10, 0.1, 0), of(2, "m", 2, 9, 0))),
                "two answers");
        assertEquals(
                Map.of(),
                watch.outliers(List.of(of(1, "m", 10, 0.1, 0), of(2, "n", 10, 9, 0))),
                "another model");
        assertEquals(Map.of(), watch.outliers(List.of(of(2, "n", 10, 9, 0))), "no peer");
        assertEquals(
                Map.of(2L, 90.0),
                watch.outliers(List.of(of(1, "m", 10, 0.1, 0), of(2, "m", 10, 9, 0))));
    }
}
