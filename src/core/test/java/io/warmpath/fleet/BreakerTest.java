package io.warmpath.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Breaker.State;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class BreakerTest {
    private static final long SECOND = 1_000_000_000L;

    static final HealthOptions OPTIONS =
            new HealthOptions(
                    3,
                    Duration.ofSeconds(4),
                    Duration.ofSeconds(10),
                    2,
                    5,
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(10),
                    3);

    private final Breaker breaker = new Breaker(OPTIONS);
    private long now = 100 * SECOND;

    private void failAll() {
        while (breaker.state() != State.OPEN) {
            breaker.failed(now, now);
        }
    }

    private long pause() {
        return (breaker.dueNanos() - now) / SECOND;
    }

    @Test
    void failures_open_it_and_twice_as_many_answers_make_up_for_them() {
        assertFalse(breaker.listens());
        for (int i = 0; i < 50; i++) {
            assertFalse(breaker.failed(now, now));
            assertTrue(breaker.listens());
            assertFalse(breaker.succeeded(now, now));
            breaker.succeeded(now, now);
        }
        assertEquals(State.CLOSED, breaker.state(), "a third of failures is borne");
        int failed = 0;
        while (breaker.state() == State.CLOSED) {
            breaker.failed(now, now);
            breaker.succeeded(now, now);
            failed++;
        }
        assertTrue(failed <= 6, "half of the requests fail: " + failed);
    }

    @Test
    void after_the_pause_trials_in_a_row_close_it() {
        failAll();
        assertEquals(4, pause());
        assertFalse(breaker.tick(now + 4 * SECOND - 1));
        now += 4 * SECOND;
        assertTrue(breaker.tick(now));
        assertFalse(breaker.succeeded(now - 1, now), "sent before the trial");
        assertFalse(breaker.succeeded(now, now));
        assertTrue(breaker.succeeded(now, now));
        assertEquals(State.CLOSED, breaker.state());
        assertFalse(breaker.listens(), "with a clean slate");
    }

    @Test
    void a_failed_trial_doubles_the_pause_up_to_the_longest() {
        failAll();
        for (long expected : new long[] {8, 10, 10}) {
            now = breaker.dueNanos();
            assertTrue(breaker.tick(now));
            assertFalse(breaker.failed(now - 1, now), "sent before the trial");
            assertTrue(breaker.failed(now, now));
            assertEquals(expected, pause());
        }
    }

    @Test
    void who_was_closed_for_the_longest_pause_starts_with_the_shortest_again() {
        failAll();
        now = breaker.dueNanos();
        breaker.tick(now);
        breaker.succeeded(now, now);
        breaker.succeeded(now, now);
        now += 9 * SECOND;
        failAll();
        assertEquals(8, pause());
        now = breaker.dueNanos();
        breaker.tick(now);
        breaker.succeeded(now, now);
        breaker.succeeded(now, now);
        now += 10 * SECOND;
        failAll();
        assertEquals(4, pause());
    }

    @Test
    void what_ends_while_it_is_open_changes_nothing() {
        failAll();
        assertFalse(breaker.failed(now, now));
        assertFalse(breaker.succeeded(now, now));
        assertFalse(breaker.open(now));
        assertEquals(4, pause());
    }

    @Test
    void without_a_number_of_failures_only_slowness_opens_it() {
        Breaker never =
                new Breaker(
                        new HealthOptions(
                                0,
                                OPTIONS.pauseMin(),
                                OPTIONS.pauseMax(),
                                1,
                                5,
                                OPTIONS.latencyFloor(),
                                OPTIONS.window(),
                                1));
        for (int i = 0; i < 100; i++) {
            assertFalse(never.failed(now, now));
        }
        assertTrue(never.open(now));
    }
}
