package io.warmpath.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.pool.PageCache.Known;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PageCacheTest {
    private final AtomicLong clock = new AtomicLong(-5);
    private final PageCache cache =
            new PageCache(1 << 16, Duration.ofNanos(100), Duration.ofNanos(10), clock::get);

    @Test
    void answers_end_at_their_times() {
        cache.put(7, true, cache.generation());
        cache.put(8, false, cache.generation());
        assertEquals(Known.HELD, cache.get(7));
        assertEquals(Known.MISSING, cache.get(8));
        clock.addAndGet(10);
        assertEquals(Known.HELD, cache.get(7));
        assertEquals(Known.NOTHING, cache.get(8));
        clock.addAndGet(90);
        assertEquals(Known.NOTHING, cache.get(7));
    }

    @Test
    void a_newer_answer_takes_the_place_of_an_older_one() {
        cache.put(7, true, cache.generation());
        cache.put(7, false, cache.generation());
        assertEquals(Known.MISSING, cache.get(7));
    }

    @Test
    void what_was_asked_before_all_was_forgotten_is_not_taken() {
        int before = cache.generation();
        cache.put(7, true, before);
        cache.clear();
        assertEquals(Known.NOTHING, cache.get(7));
        cache.put(8, true, before);
        assertEquals(Known.NOTHING, cache.get(8));
    }

    @Test
    void its_size_is_bounded_and_the_newest_stay() {
        assertTrue(cache.bytes() <= 1 << 16, cache.bytes() + " bytes");
        Random random = new Random(3);
        long last = 0;
        for (int i = 0; i < 100_000; i++) {
            last = random.nextLong();
            cache.put(last, true, cache.generation());
        }
        assertEquals(Known.HELD, cache.get(last));
        assertEquals(0, new PageCache(0, Duration.ZERO, Duration.ZERO, clock::get).bytes() / 1000);
    }

    @Test
    void without_a_time_to_live_nothing_is_kept() {
        PageCache none = new PageCache(1 << 10, Duration.ZERO, Duration.ZERO, clock::get);
        none.put(1, true, none.generation());
        assertEquals(Known.NOTHING, none.get(1));
    }
}
