package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.pool.JdkPageDigests;
import io.warmpath.pool.PageDigests;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The native chain beside the JDK's SHA-256, which the recorded vectors pin. */
class NativePageDigestsTest {
    private static final PageDigests JDK = new JdkPageDigests();
    private static PageDigests chain;

    @BeforeAll
    static void load() {
        chain = new NativePageDigests(Optional.empty());
    }

    @Test
    void digests_are_those_of_the_jdk() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int pages = 0;
        for (int round = 0; round < 300; round++) {
            int[] tokens = random.ints(random.nextInt(600)).toArray();
            int length = random.nextInt(tokens.length + 1);
            int pageSize = 1 + random.nextInt(130);
            boolean bigram = random.nextBoolean();
            byte[] start = new byte[random.nextBoolean() ? 0 : 32];
            random.nextBytes(start);
            byte[] expected = JDK.chain(tokens, length, pageSize, bigram, start);
            assertArrayEquals(
                    expected,
                    chain.chain(tokens, length, pageSize, bigram, start),
                    () -> "seed " + seed);
            pages += expected.length / 32;
        }
        assertEquals(true, pages > 300, "only " + pages + " pages");
    }

    @Test
    void what_is_no_prompt_or_no_seed_is_refused() {
        int[] tokens = new int[8];
        assertThrows(
                IllegalArgumentException.class,
                () -> chain.chain(tokens, 9, 4, false, new byte[0]));
        assertThrows(
                IllegalArgumentException.class,
                () -> chain.chain(tokens, 8, 0, false, new byte[0]));
        assertThrows(
                NativeIndexException.class, () -> chain.chain(tokens, 8, 4, false, new byte[31]));
        assertThrows(
                NativeIndexException.class,
                () -> chain.chain(tokens, 8, 1 << 20, false, new byte[0]));
    }
}
