package io.warmpath.net.server;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads of HTTP/2 that would say something else in HTTP/1.1. */
class Http2HeadTest {
    private static boolean sound(String target, String scheme, String name, String value) {
        return Http2Head.isSound(
                target, scheme, List.of(Map.entry("host", "a"), Map.entry(name, value)));
    }

    @Test
    void what_clients_send_is_sound() {
        assertTrue(sound("/v1/models?a=b", "https", "x-a", "b, \tc \u00e4"));
        assertTrue(sound("*", "http", "x-a", ""));
        assertTrue(Http2Head.isSound("/", null, List.of()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\r\nb: c", "a\nb", "a\rb", "\0", "\u007f", "\u001b[2J", "\u0100"})
    void values_have_no_controls(String value) {
        assertFalse(sound("/", "https", "x-a", value));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "http://a/v1/models", "v1/models", "**"})
    void a_path_begins_with_a_slash(String target) {
        assertFalse(sound(target, "https", "x-a", "b"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "https\r\nx: y", "http ", "ht\ttp", "ftp"})
    void a_scheme_is_one_of_two(String scheme) {
        assertFalse(sound("/", scheme, "x-a", "b"));
    }

    @Test
    void there_is_one_host() {
        assertFalse(sound("/", "https", "Host", "a"));
    }
}
