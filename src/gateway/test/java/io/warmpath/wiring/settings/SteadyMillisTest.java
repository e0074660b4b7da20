package io.warmpath.wiring.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Time that goes on evenly, whatever the machine's clock does. */
class SteadyMillisTest {
    @Test
    void a_clock_that_jumps_does_not_move_it() {
        AtomicReference<Instant> clock = new AtomicReference<>(Instant.ofEpochMilli(1_000_000));
        AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 500_000); // it may go over
        SteadyMillis millis = new SteadyMillis(clock::get, nanos::get);
        assertEquals(1_000_000, millis.getAsLong());
        clock.set(clock.get().plus(Duration.ofDays(1)));
        nanos.addAndGet(1_999_999);
        assertEquals(1_000_001, millis.getAsLong());
        clock.set(clock.get().minus(Duration.ofDays(2)));
        nanos.addAndGet(Duration.ofHours(1).toNanos());
        assertEquals(4_600_001, millis.getAsLong());
    }
}
