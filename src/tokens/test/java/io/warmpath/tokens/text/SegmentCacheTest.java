package io.warmpath.tokens.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class SegmentCacheTest {
    private static final int ENTRY_BYTES = 160 + 2 * 4 + 4 * 4;

    @Test
    void it_never_holds_more_bytes_than_its_limit() {
        SegmentCache cache = new SegmentCache(50L * ENTRY_BYTES);
        for (int i = 0; i < 1000; i++) {
            cache.put(key(i), new int[4]);
            assertTrue(cache.bytes() <= 50L * ENTRY_BYTES, "at " + i);
        }
        assertEquals(50, cache.size());
        assertEquals(950, cache.evictions());
    }

    @Test
    void what_is_read_again_survives_what_is_not() {
        SegmentCache cache = new SegmentCache(50L * ENTRY_BYTES);
        cache.put("warm", new int[] {1, 2, 3, 4});
        for (int i = 0; i < 1000; i++) {
            cache.put(key(i), new int[4]);
            assertNotNull(cache.get("warm"), "after " + i);
        }
        for (int i = 0; i < 1000; i++) {
            cache.put(key(i + 1000), new int[4]);
        }
        assertNull(cache.get("warm"));
    }

    @Test
    void texts_with_equal_hash_codes_are_different_texts() {
        assertEquals("Aa".hashCode(), "BB".hashCode());
        SegmentCache cache = new SegmentCache(1 << 20);
        cache.put("Aa", new int[] {1});
        assertNull(cache.get("BB"));
        cache.put("BB", new int[] {2});
        assertArrayEquals(new int[] {1}, cache.get("Aa"));
        assertArrayEquals(new int[] {2}, cache.get("BB"));
    }

    @Test
    void a_piece_that_would_push_out_much_is_not_kept() {
        SegmentCache cache = new SegmentCache(8_000);
        cache.put("a".repeat(400), new int[100]);
        assertEquals(0, cache.size());
        assertEquals(0, cache.bytes());
    }

    @Test
    void putting_twice_counts_once() {
        SegmentCache cache = new SegmentCache(1 << 20);
        cache.put("abcd", new int[4]);
        cache.put("abcd", new int[4]);
        assertEquals(ENTRY_BYTES, cache.bytes());
    }

    @Test
    void readers_and_writers_at_once_see_only_right_ids_and_the_limit_holds() throws Exception {
        SegmentCache cache = new SegmentCache(40L * ENTRY_BYTES);
        List<Future<?>> runs = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(4)) {
            for (int thread = 0; thread < 4; thread++) {
                long seed = thread;
                runs.add(pool.submit(() -> readAndWrite(cache, new Random(seed))));
            }
        }
        for (Future<?> run : runs) {
            run.get();
        }
        assertTrue(cache.evictions() > 0);
        assertTrue(cache.bytes() <= 40L * ENTRY_BYTES);
        assertEquals(cache.bytes(), (long) cache.size() * ENTRY_BYTES);
    }

    private static void readAndWrite(SegmentCache cache, Random random) {
        for (int i = 0; i < 50_000; i++) {
            int n = random.nextInt(200);
            int[] ids = cache.get(key(n));
            if (ids == null) {
                cache.put(key(n), new int[] {n, n, n, n});
            } else {
                assertArrayEquals(new int[] {n, n, n, n}, ids);
            }
        }
    }

    private static String key(int n) {
        return ""
                + (char) ('a' + n / 676 % 26)
                + (char) ('a' + n / 26 % 26)
                + (char) ('a' + n % 26)
                + (char) ('a' + n / 17_576);
    }
}
