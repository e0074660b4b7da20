package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class KnownWordsTest {
    private static byte[] raw(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void a_word_is_found_by_its_first_bytes_whatever_stands_behind_them() {
        for (String word : new String[] {"BlockStored", "ts", "kv_cache_spec_sliding_window"}) {
            byte[] longer = Arrays.copyOf(raw(word), 40);
            Arrays.fill(longer, word.length(), 40, (byte) 'x');
            assertEquals(word, KnownWords.OF_EVENTS.find(longer, word.length()));
        }
    }

    @Test
    void what_only_looks_like_one_is_none() {
        assertNull(KnownWords.OF_EVENTS.find(raw("BlockStorec"), 11));
        assertNull(KnownWords.OF_EVENTS.find(raw("BlockStored"), 10));
        assertNull(KnownWords.OF_EVENTS.find(raw(""), 0));
        assertNull(KnownWords.OF_EVENTS.find(raw("x".repeat(64)), 64));
        // Bytes of a letter beyond ASCII, which read as chars would be negative.
        assertNull(KnownWords.OF_EVENTS.find(raw("g\u00e9"), 3));
    }

    @Test
    void words_that_meet_in_one_place_are_told_apart() {
        String[] many = new String[100];
        for (int i = 0; i < many.length; i++) {
            many[i] = "w" + i;
        }
        KnownWords words = new KnownWords(many);
        for (String word : many) {
            assertSame(word, words.find(raw(word), word.length()));
        }
        assertNull(words.find(raw("w100"), 4));
    }
}
