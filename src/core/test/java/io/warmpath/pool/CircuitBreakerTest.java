package io.warmpath.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.pool.PoolStanding.BreakerState;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CircuitBreakerTest {
    private final AtomicLong clock = new AtomicLong();
    private final CircuitBreaker breaker =
            new CircuitBreaker(3, Duration.ofNanos(10), Duration.ofNanos(25), clock::get);

    private void fail(int times) {
        for (int i = 0; i < times; i++) {
            assertTrue(breaker.enter());
            breaker.failed();
        }
    }

    @Test
    void only_failures_in_a_row_open_it() {
        fail(2);
        breaker.succeeded();
        fail(2);
        assertEquals(BreakerState.CLOSED, breaker.state());
        fail(1);
        assertEquals(BreakerState.OPEN, breaker.state());
        assertFalse(breaker.enter());
    }

    @Test
    void after_the_pause_one_may_try_and_the_pause_doubles_when_it_fails() {
        fail(3);
        for (long pause : new long[] {10, 20, 25, 25}) {
            clock.addAndGet(pause - 1);
            assertFalse(breaker.enter());
            clock.addAndGet(1);
            assertTrue(breaker.lets());
            assertTrue(breaker.enter());
            assertEquals(BreakerState.TRYING, breaker.state());
            assertFalse(breaker.enter(), "one at a time");
            breaker.failed();
            assertEquals(BreakerState.OPEN, breaker.state());
        }
        clock.addAndGet(25);
        assertTrue(breaker.enter());
        breaker.succeeded();
        assertEquals(BreakerState.CLOSED, breaker.state());
        fail(3);
        clock.addAndGet(10);
        assertTrue(breaker.enter(), "the first pause again");
    }

    @Test
    void answers_to_questions_from_before_do_not_close_it() {
        assertTrue(breaker.enter());
        fail(3);
        breaker.succeeded();
        assertEquals(BreakerState.OPEN, breaker.state());
    }
}
