package io.warmpath.hot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class HotPrefixesTest {
    private static final int BLOCK = 16;

    private long now = Long.MAX_VALUE - Duration.ofMinutes(1).toNanos(); // the clock may go round
    private final HotPrefixes hot = new HotPrefixes(1 << 20, () -> now);

    private static PrefixQuery prompt(long... hashes) {
        return PrefixQuery.hashed(hashes, hashes.length * BLOCK, BLOCK, PrefixSpace.NONE);
    }

    private void add(String text, long... hashes) {
        hot.add("m", prompt(hashes), text, 1);
    }

    private List<String> rows() {
        return rows(hot.hottest(100, m -> true));
    }

    private static List<String> rows(List<HotPrefix> all) {
        return all.stream()
                .map(
                        p ->
                                p.model()
                                        + " "
                                        + Arrays.toString(p.prefix().hashes())
                                        + " "
                                        + Math.round(p.hits() * 100) / 100.0
                                        + " "
                                        + p.text())
                .toList();
    }

    @Test
    void prefixes_are_told_with_the_prompts_that_have_them() {
        add("You are A. x", 1, 2, 3, 4);
        add("You are A. y", 1, 2, 3, 5, 6);
        add("You are A. z", 1, 2, 3, 5, 6);
        add("You are A", 1, 2);
        add("lonely", 9, 9);
        assertEquals(
                List.of(
                        "m [1, 2] 4.0 You are A",
                        "m [1, 2, 3] 3.0 You are A. ",
                        "m [1, 2, 3, 5, 6] 2.0 You are A. "),
                rows());
        assertEquals(List.of("m [1, 2] 4.0 You are A"), rows(hot.hottest(1, m -> true)));
        assertEquals(List.of(), rows(hot.hottest(9, m -> m.equals("n"))));
    }

    @Test
    void a_prefix_that_nearly_all_go_on_alike_from_is_told_by_the_longer_one() {
        for (int i = 0; i < 19; i++) {
            add("", 1, 2, 3, 100 + i);
        }
        add("", 1, 2, 4);
        assertEquals(List.of("m [1, 2, 3] 19.0 "), rows());
        add("", 1, 2, 5);
        add("", 1, 2, 6);
        assertEquals(List.of("m [1, 2] 22.0 ", "m [1, 2, 3] 19.0 "), rows());
    }

    @Test
    void models_block_sizes_and_spaces_share_nothing() {
        long[] same = {1, 2};
        add("", same);
        hot.add("n", prompt(same), "", 1);
        hot.add("m", PrefixQuery.hashed(same, 64, 32, PrefixSpace.NONE), "", 1);
        hot.add("m", PrefixQuery.hashed(same, 32, 16, new PrefixSpace("", "salt")), "", 1);
        assertEquals(List.of(), rows());
        hot.add("n", prompt(same), "", 1);
        assertEquals(List.of("n [1, 2] 2.0 "), rows());
    }

    @Test
    void prompts_by_ids_are_compared_by_complete_blocks() {
        int[] a = {1, 2, 3, 4, 5, 6, 7};
        int[] b = {1, 2, 3, 4, 5, 9, 9};
        hot.add("m", new PrefixQuery(a, 7, 2, PrefixSpace.NONE), "", 1);
        hot.add("m", new PrefixQuery(b, 7, 2, PrefixSpace.NONE), "", 1);
        hot.add("m", new PrefixQuery(b, 1, 2, PrefixSpace.NONE), "", 1); // no block
        HotPrefix only = hot.hottest(9, m -> true).getFirst();
        assertEquals(2, only.prefix().blocks());
        assertArrayEquals(new int[] {1, 2, 3, 4}, only.prefix().tokens());
    }

    @Test
    void hits_halve_in_five_minutes_and_are_forgotten_after_thirty() {
        add("", 1);
        now += Duration.ofMinutes(5).toNanos();
        add("", 1);
        assertEquals(List.of("m [1] 1.5 "), rows());
        now += Duration.ofMinutes(5).toNanos();
        assertEquals(List.of("m [1] 0.75 "), rows());
        assertEquals(
                Duration.ofMinutes(5).toNanos(), hot.hottest(1, m -> true).getFirst().ageNanos());
        now += Duration.ofMinutes(21).toNanos();
        assertEquals(List.of(), rows(), "one is older than that, and one alone shares nothing");
        add("", 2);
        long two = hot.bytes();
        now += Duration.ofMinutes(31).toNanos();
        add("", 2);
        assertEquals(two / 2, hot.bytes());
    }

    @Test
    void a_burst_is_counted_one_by_one_and_more_by_four_a_second() {
        for (int i = 0; i < 256; i++) {
            assertEquals(1, hot.standsFor(), "request " + i);
        }
        for (int i = 0; i < 1000; i++) {
            assertEquals(0, hot.standsFor());
        }
        now += Duration.ofMillis(250).toNanos();
        assertEquals(1001, hot.standsFor());
        assertEquals(0, hot.standsFor());
        now += Duration.ofMinutes(2).toNanos();
        assertEquals(2, hot.standsFor());
        for (int i = 1; i < 256; i++) {
            assertEquals(1, hot.standsFor());
        }
        assertEquals(0, hot.standsFor());
    }

    @Test
    void what_is_kept_stays_within_its_bytes_and_the_oldest_go() {
        HotPrefixes small = new HotPrefixes(2000, () -> now);
        for (int i = 0; i < 1000; i++) {
            small.add("m", prompt(i, 1, 2, 3), "0123456789", 1);
            assertTrue(small.bytes() <= 2000, small.bytes() + " bytes after " + i);
        }
        assertTrue(small.bytes() > 1500);
        small.add("m", prompt(999, 1, 2, 3), "", 1);
        assertEquals(1, small.hottest(9, m -> true).size());
        small.add("m", prompt(new long[300]), "", 1); // larger than all that may be kept
        assertEquals(0, small.bytes());
        small.add("m", prompt(1), "", 1);
        assertTrue(small.bytes() > 0);
    }

    @Test
    void a_prompt_is_kept_up_to_64_kibibytes() {
        add("", new long[20_000]);
        add("", new long[20_000]);
        assertEquals(8192, hot.hottest(1, m -> true).getFirst().prefix().blocks());
    }

    @Test
    void texts_are_cut_between_characters() {
        add("a\uD83D\uDE00", 1);
        add("a\uD83D\uDE01", 1);
        assertEquals("a", hot.hottest(1, m -> true).getFirst().text());
    }

    /** Each prefix of each prompt, counted one by one. */
    @Test
    void random_prompts_are_counted_as_by_hand() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            HotPrefixes some = new HotPrefixes(1 << 20, () -> now);
            Map<String, Integer> counts = new HashMap<>();
            List<long[]> all = new ArrayList<>();
            for (int i = 0; i < 2 + random.nextInt(12); i++) {
                long[] hashes = random.longs(1 + random.nextInt(5), 0, 3).toArray();
                all.add(hashes);
                some.add("m", prompt(hashes), "", 1);
                for (int n = 1; n <= hashes.length; n++) {
                    counts.merge(Arrays.toString(Arrays.copyOf(hashes, n)), 1, Integer::sum);
                }
            }
            TreeSet<String> expected = new TreeSet<>();
            for (long[] hashes : all) {
                for (int n = 1; n <= hashes.length; n++) {
                    String name = Arrays.toString(Arrays.copyOf(hashes, n));
                    int hits = counts.get(name);
                    String begin = name.substring(0, name.length() - 1) + ", ";
                    int largest = 0;
                    for (Map.Entry<String, Integer> e : counts.entrySet()) {
                        if (e.getKey().startsWith(begin)) {
                            largest = Math.max(largest, e.getValue());
                        }
                    }
                    if (hits > 1 && (largest < 2 || largest < 0.9 * hits)) {
                        expected.add("m " + name + " " + (double) hits + " ");
                    }
                }
            }
            assertEquals(
                    expected, new TreeSet<>(rows(some.hottest(1000, m -> true))), "seed " + seed);
        }
    }
}
