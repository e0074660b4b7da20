package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.PooledByteBufAllocator;
import org.junit.jupiter.api.Test;

/** The leak check trips when there is a leak. */
class LeaksTest {
    @Test
    void a_buffer_that_nobody_releases_is_found() {
        Leaks leaks = new Leaks();
        leaks.beforeAll(null);
        for (int i = 0; i < 50; i++) {
            // Netty tells equal records once per process; the hint makes these new.
            PooledByteBufAllocator.DEFAULT.directBuffer(64).touch("planted " + System.nanoTime());
        }
        assertThrows(AssertionError.class, () -> leaks.afterAll(null));
    }
}
