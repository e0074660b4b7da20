package io.warmpath.usage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FleetHistoryTest {
    private static final long STEP = 1_000L * WorkerHistory.STEP_SECONDS;
    private static final long MILLI = 1_000_000;

    private long now = 100_000 * STEP;
    private final FleetHistory fleet = new FleetHistory(() -> now);

    @BeforeEach
    void one_worker() {
        fleet.came("w");
    }

    private static WorkerTry answered(long firstMillis, long prompt, long cached, long predicted) {
        return new WorkerTry(false, firstMillis * MILLI, prompt, cached, predicted);
    }

    private static long sum(List<Long> all) {
        return all.stream().mapToLong(n -> n).sum();
    }

    @Test
    void the_last_five_minutes_are_means_over_requests_and_over_tokens() {
        fleet.tried("w", answered(10, 100, 50, 50));
        fleet.tried("w", answered(20, 300, 0, 16));
        fleet.tried("w", answered(60, 400, 400, 64));
        fleet.tried("w", new WorkerTry(true, -1, -1, -1, -1));
        assertEquals(new WorkerHistory.Recent(4, 1, 0.5625, 30.0, 1, 1, 1), fleet.recent("w"));
        now += 30 * STEP;
        assertEquals(4, fleet.recent("w").requests());
        now += STEP;
        assertEquals(new WorkerHistory.Recent(0, 0, null, null, 0, 0, 0), fleet.recent("w"));
    }

    @Test
    void what_no_engine_reports_is_not_known() {
        fleet.tried("w", new WorkerTry(false, 5 * MILLI, 100, -1, 64));
        assertEquals(new WorkerHistory.Recent(1, 0, null, 5.0, 0, 0, 0), fleet.recent("w"));
    }

    @Test
    void the_history_has_whole_steps_the_oldest_first() {
        fleet.tried("w", answered(10, 100, 64, 48));
        fleet.sample("w", 30, 1.6);
        fleet.sample("w", 10, 4.4);
        assertEquals(0, sum(fleet.series("w").requests()), "the step still runs");
        now += STEP;
        WorkerHistory.Series s = fleet.series("w");
        assertEquals(90, s.requests().size());
        assertEquals(1, s.requests().get(89));
        assertEquals(10.0, s.firstTokenMillis().get(89));
        assertEquals(0.64, s.hitRate().get(89));
        assertEquals(20, s.prefillTokens().get(89));
        assertEquals(3, s.kvBlocks().get(89));
        assertEquals(48, s.predictedTokens().get(89));
        assertEquals(64, s.reportedTokens().get(89));
        assertNull(s.firstTokenMillis().get(88));
        assertNull(s.hitRate().get(88));
        now += 89 * STEP;
        assertEquals(1, fleet.series("w").requests().getFirst());
        now += STEP;
        assertEquals(Collections.nCopies(90, 0L), fleet.series("w").requests());
    }

    @Test
    void a_long_silence_leaves_nothing_of_what_was_before() {
        fleet.tried("w", answered(10, 100, 64, 48));
        now += 1_000 * STEP;
        assertEquals(Collections.nCopies(90, 0L), fleet.series("w").requests());
    }

    @Test
    void a_worker_that_has_left_has_no_history_and_gets_none_by_what_still_ends_there() {
        fleet.left("w");
        fleet.tried("w", answered(10, 100, 64, 48));
        fleet.sample("w", 1, 1);
        assertNull(fleet.recent("w"));
        assertNull(fleet.series("w"));
    }

    @Test
    void requests_per_second_are_over_the_last_minute_or_since_the_beginning() {
        for (int i = 0; i < 30; i++) {
            fleet.ended(answered(10, 100, 64, -1));
        }
        now += STEP;
        assertEquals(3.0, fleet.requestsPerSecond());
        now += 5 * STEP;
        assertEquals(0.5, fleet.requestsPerSecond());
        now += STEP;
        assertEquals(0.0, fleet.requestsPerSecond());
        assertEquals(30, fleet.gateway().requests());
    }
}
