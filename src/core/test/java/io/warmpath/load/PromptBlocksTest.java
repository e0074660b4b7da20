package io.warmpath.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PromptBlocksTest {
    @Test
    void equal_prefixes_have_equal_names_and_others_do_not() {
        int[] a = new SplittableRandom(1).ints(64, 0, 1000).toArray();
        for (int changed = 0; changed < a.length; changed++) {
            int[] b = a.clone();
            b[changed]++;
            long[] x = PromptBlocks.of(a, 8, 5).chain();
            long[] y = PromptBlocks.of(b, 8, 5).chain();
            for (int block = 0; block < 8; block++) {
                if (block < changed / 8) {
                    assertEquals(x[block], y[block]);
                } else {
                    assertNotEquals(x[block], y[block]);
                }
            }
        }
    }

    @Test
    void order_block_size_seed_model_and_salt_separate() {
        int[] tokens = {1, 2, 3, 4, 5, 6, 7, 8};
        int[] swapped = {3, 4, 1, 2, 5, 6, 7, 8};
        long seed = PromptBlocks.seed(1, "m", "");
        Set<Long> firsts = new HashSet<>();
        firsts.add(PromptBlocks.of(tokens, 4, seed).chain()[0]);
        firsts.add(PromptBlocks.of(swapped, 4, seed).chain()[0]);
        firsts.add(PromptBlocks.of(tokens, 5, seed).chain()[0]);
        firsts.add(PromptBlocks.of(tokens, 4, PromptBlocks.seed(2, "m", "")).chain()[0]);
        firsts.add(PromptBlocks.of(tokens, 4, PromptBlocks.seed(1, "m", "s")).chain()[0]);
        firsts.add(PromptBlocks.of(tokens, 4, PromptBlocks.seed(1, "ms", "")).chain()[0]);
        assertEquals(6, firsts.size());
    }

    @Test
    void ten_thousand_blocks_that_differ_in_one_bit_have_different_names() {
        Set<Long> names = new HashSet<>();
        int[] tokens = new int[16];
        for (int i = 0; i < 16; i++) {
            for (int bit = 0; bit < 32; bit++) {
                for (int other = 0; other < 20; other++) {
                    Arrays.fill(tokens, other);
                    tokens[i] ^= 1 << bit;
                    names.add(PromptBlocks.of(tokens, 16, 3).chain()[0]);
                }
            }
        }
        assertEquals(16 * 32 * 20, names.size());
    }

    @Test
    void the_incomplete_block_counts_but_has_no_name() {
        PromptBlocks blocks = PromptBlocks.of(new int[33], 16, 0);
        assertEquals(2, blocks.chain().length);
        assertEquals(3, blocks.total());
        assertEquals(0, PromptBlocks.unnamed(16, 0).total());
        assertEquals(7, PromptBlocks.unnamed(0, 7).total());
        assertThrows(IllegalArgumentException.class, () -> PromptBlocks.unnamed(16, -1));
        assertTrue(PromptBlocks.of(new int[3], 4, 0).chain().length == 0);
    }
}
