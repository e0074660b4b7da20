package io.warmpath.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.pool.LmcacheChunks.Hashing;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Longer chains are held against LMCache's own in the recordings of its workers. */
class LmcacheChunksTest {
    /** Said by CPython 3.11. */
    @Test
    void pythons_hashes() {
        assertEquals(5740354900026072187L, PythonHash.tuple());
        assertEquals(529344067295497451L, PythonHash.tuple(1, 2, 3));
        assertEquals(-2, PythonHash.number(-1));
        assertEquals(0, PythonHash.number((1L << 61) - 1));
        assertEquals(-3, PythonHash.number(-(1L << 61) - 2));
        assertEquals(5313149338359954478L, PythonHash.text("0", "0"));
        assertEquals(866561823186450123L, PythonHash.text("42", "42"));
        assertEquals(8891781246207573802L, PythonHash.text("4294967295", "4294967295"));
        assertEquals(
                -20846345236906415L, PythonHash.text("a longer text, of thirty-three chars", "7"));
        assertEquals(0L, PythonHash.text("", "0"));
    }

    @Test
    void only_whole_chunks_have_names_and_salts_do_not_change_them() {
        LmcacheChunks recipe = new LmcacheChunks("a", 256, 16, Hashing.SHA256_CBOR, "");
        int[] ids = new int[600];
        PoolQuestion plain = new PoolQuestion(ids);
        PoolQuestion salted = new PoolQuestion(ids, 511, null, "tenant");
        List<String> both = new ArrayList<>();
        recipe.keys(recipe.digests(plain, new JdkPageDigests()), 0, both);
        recipe.keys(recipe.digests(salted, new JdkPageDigests()), 0, both);
        assertEquals("1559282919377264800", both.get(0));
        assertEquals(both.get(0), both.get(1));
        assertEquals(64, recipe.digests(plain, new JdkPageDigests()).length);
        assertEquals(32, recipe.digests(salted, new JdkPageDigests()).length);
        assertEquals(16, recipe.blockSize());
    }

    @Test
    void what_cannot_be_named_from_outside_is_refused_with_the_reason() {
        assertTrue(
                refused(() -> new LmcacheChunks("a", 256, 16, Hashing.BUILTIN, ""))
                        .contains("PYTHONHASHSEED"));
        assertTrue(
                refused(() -> new LmcacheChunks("a", 256, 16, Hashing.BUILTIN, "random"))
                        .contains("PYTHONHASHSEED"));
        assertTrue(
                refused(() -> new LmcacheChunks("a", 256, 48, Hashing.SHA256_CBOR, ""))
                        .contains("whole number of blocks"));
        assertTrue(refused(() -> Hashing.parse("sha256")).contains("sha256_cbor"));
    }

    @Test
    void a_chunk_that_no_engine_has_is_refused() {
        assertTrue(
                refused(
                                () ->
                                        new LmcacheChunks(
                                                "i",
                                                1 << 28,
                                                16,
                                                LmcacheChunks.Hashing.SHA256_CBOR,
                                                ""))
                        .contains("65536"));
    }

    private static String refused(Runnable making) {
        return String.valueOf(
                assertThrows(IllegalArgumentException.class, making::run).getMessage());
    }
}
