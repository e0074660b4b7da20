package io.warmpath.wiring.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.api.CrossOrigin;
import io.warmpath.wiring.TestConfig;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CorsSettingsTest {
    private static Optional<CrossOrigin> of(String... settings) {
        Map<String, String> given = new HashMap<>();
        for (int i = 0; i < settings.length; i += 2) {
            given.put("warmpath." + settings[i], settings[i + 1]);
        }
        return CorsSettings.of(TestConfig.of(given).http().cors());
    }

    @Test
    void no_page_of_another_origin_may_call_unless_it_is_named() {
        assertTrue(of().isEmpty());
        assertEquals(
                new CrossOrigin(
                        List.of("https://chat.example", "http://localhost:3000"),
                        List.of(),
                        List.of("x-request-id", "retry-after"),
                        false,
                        Duration.ofHours(1)),
                of("http.cors.origins", "https://chat.example, http://localhost:3000")
                        .orElseThrow());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "chat.example",
                "https://chat.example/",
                "https://a/b",
                "*,https://a",
                "https://*.a"
            })
    void what_browsers_do_not_write_is_refused(String origins) {
        StartFailure failure =
                assertThrows(StartFailure.class, () -> of("http.cors.origins", origins));
        assertTrue(failure.getMessage().contains("warmpath.http.cors.origins"), failure::toString);
    }

    @Test
    void all_pages_do_not_get_credentials() {
        assertThrows(
                StartFailure.class,
                () -> of("http.cors.origins", "*", "http.cors.credentials", "true"));
        assertTrue(
                of("http.cors.origins", "https://a", "http.cors.credentials", "true").isPresent());
    }
}
