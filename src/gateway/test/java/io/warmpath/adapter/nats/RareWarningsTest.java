package io.warmpath.adapter.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How often the log says what is wrong with a server. */
class RareWarningsTest {
    private final AtomicLong nanos = new AtomicLong(-7);
    private final RareWarnings warnings = new RareWarnings(nanos::get);

    @Test
    void what_comes_with_every_try_is_said_once_a_minute() {
        int said = 0;
        for (int i = 0; i < 600; i++, nanos.addAndGet(200_000_000)) { // two minutes
            said += warnings.isNew("lost") ? 1 : 0;
            said += warnings.isNew("refused") ? 1 : 0;
        }
        assertEquals(4, said);
    }

    @Test
    void of_texts_that_are_ever_new_a_few_are_said() {
        assertEquals(
                RareWarnings.MOST,
                IntStream.range(0, 1000).filter(i -> warnings.isNew("inbox " + i)).count());
        nanos.addAndGet(RareWarnings.EVERY.toNanos() - 1);
        assertFalse(warnings.isNew("another"));
        nanos.addAndGet(1);
        assertTrue(warnings.isNew("another"));
    }
}
