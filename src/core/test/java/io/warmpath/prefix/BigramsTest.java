package io.warmpath.prefix;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pages of pairs of tokens as blocks, against the pairs themselves. */
class BigramsTest {
    @Test
    void the_last_token_of_a_page_begins_the_next() {
        assertArrayEquals(
                new int[] {1, 2, 3, 3, 4, 5}, Bigrams.blocks(new int[] {1, 2, 3, 4, 5}, 2, 2));
    }

    @ParameterizedTest
    @CsvSource({
        // tokens, page, whole pages once computed, pages that are looked up
        "0,4,0,0",
        "1,1,0,0",
        "2,1,1,0",
        "3,1,2,1",
        "4,4,0,0",
        "5,4,1,0",
        "6,4,1,1",
        "9,4,2,1",
        "10,4,2,2"
    })
    void n_tokens_have_n_minus_1_pairs_and_the_last_token_is_not_looked_up(
            int length, int page, int computed, int asked) {
        int[] tokens = new int[12];
        assertEquals(computed, Bigrams.of(tokens, length, page, PrefixSpace.NONE).blocks());
        assertEquals(asked, Bigrams.lookUp(tokens, length, page, PrefixSpace.NONE).blocks());
    }

    @Test
    void blocks_are_equal_where_all_pairs_are() {
        long seed = new SplittableRandom().nextLong();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 2_000; i++) {
            int page = 1 + random.nextInt(4);
            int[] a = drawn(random);
            int[] b = drawn(random);
            if (random.nextBoolean()) {
                int same = random.nextInt(Math.min(a.length, b.length) + 1);
                System.arraycopy(a, 0, b, 0, same);
            }
            assertEquals(
                    commonPages(pairs(a), pairs(b), page),
                    commonBlocks(
                            Bigrams.of(a, a.length, page, PrefixSpace.NONE),
                            Bigrams.of(b, b.length, page, PrefixSpace.NONE)),
                    () -> "seed " + seed);
        }
    }

    private static int[] drawn(SplittableRandom random) {
        return random.ints(random.nextInt(20), 0, 3).toArray();
    }

    private static List<List<Integer>> pairs(int[] tokens) {
        List<List<Integer>> pairs = new ArrayList<>();
        for (int i = 1; i < tokens.length; i++) {
            pairs.add(List.of(tokens[i - 1], tokens[i]));
        }
        return pairs;
    }

    private static <T> int commonPages(List<T> a, List<T> b, int page) {
        int pages = 0;
        while ((pages + 1) * page <= Math.min(a.size(), b.size())
                && a.subList(pages * page, (pages + 1) * page)
                        .equals(b.subList(pages * page, (pages + 1) * page))) {
            pages++;
        }
        return pages;
    }

    private static int commonBlocks(PrefixQuery a, PrefixQuery b) {
        int size = a.blockSize();
        int blocks = 0;
        while (blocks < Math.min(a.blocks(), b.blocks())
                && Arrays.equals(
                        a.tokens(),
                        blocks * size,
                        (blocks + 1) * size,
                        b.tokens(),
                        blocks * size,
                        (blocks + 1) * size)) {
            blocks++;
        }
        return blocks;
    }
}
