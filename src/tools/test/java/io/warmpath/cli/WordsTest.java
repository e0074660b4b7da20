package io.warmpath.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class WordsTest {
    private static JsonNode n(double number) {
        return DoubleNode.valueOf(number);
    }

    @Test
    void counts_get_shorter_as_they_grow() {
        assertEquals("0", Words.count(n(0)));
        assertEquals("99,999", Words.count(n(99_999)));
        assertEquals("100k", Words.count(n(100_000)));
        assertEquals("9,999k", Words.count(n(9_999_000)));
        assertEquals("10.0M", Words.count(n(10_000_000)));
        assertEquals("12.5G", Words.count(n(12.5e9)));
    }

    @Test
    void times_have_the_unit_that_fits() {
        assertEquals("3.2 ms", Words.millis(n(3.21)));
        assertEquals("41 ms", Words.millis(n(41.2)));
        assertEquals("12.5 s", Words.millis(n(12_500)));
        assertEquals("12 s", Words.duration(Duration.ofMillis(12_900)));
        assertEquals("59 min", Words.duration(Duration.ofMinutes(59)));
        assertEquals("2 h 13 min", Words.duration(Duration.ofMinutes(133)));
        assertEquals("3 d 4 h", Words.duration(Duration.ofHours(76)));
        Instant now = Instant.parse("2026-11-24T18:00:00Z");
        assertEquals("1 h 0 min", Words.since(TextNode.valueOf("2026-11-24T17:00:00Z"), now));
        assertEquals("18:00:00", Words.timeOfDay(now));
    }

    @Test
    void numbers_have_two_places_where_they_need_them() {
        assertEquals("4,096", Words.number(4096));
        assertEquals("12.50", Words.number(12.5));
        assertEquals("0", Words.number(0.004));
        assertEquals("+3.10", Words.difference(3.1));
        assertEquals("-3", Words.difference(-3));
        assertEquals("71.2 %", Words.percent(n(0.7123)));
    }

    @Test
    void what_is_absent_is_a_dash() {
        JsonNode none = MissingNode.getInstance();
        assertEquals("-", Words.count(none));
        assertEquals("-", Words.millis(none));
        assertEquals("-", Words.percent(none));
        assertEquals("-", Words.percent(Double.NaN));
        assertEquals("-", Words.text(none));
        assertEquals("-", Words.timeOfDay(none));
        assertEquals("-", Words.time(none));
        assertEquals("-", Words.since(none, Instant.EPOCH));
        assertEquals("-", Words.duration(none));
        assertEquals("-", Words.rate(none));
    }

    @Test
    void no_text_can_steer_a_terminal() {
        assertEquals("a?[2Jb?c?d?", Words.clean("a\u001b[2Jb\nc\u009bd\u202e"));
        assertEquals("Bär 中", Words.clean("Bär 中"));
    }
}
