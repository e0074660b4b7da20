package io.warmpath.wiring.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.routing.RouterMode;
import io.warmpath.wiring.TestConfig;
import io.warmpath.wiring.fleet.FleetRuntime;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WorkerSpecsTest {
    @Test
    void entries_of_the_file_come_before_bare_urls() {
        assertEquals(
                List.of(
                        new WorkerSpec(
                                URI.create("http://c:3"),
                                "big",
                                OptionalLong.of(-1),
                                EngineKind.VLLM,
                                Set.of("m1", "m2"),
                                32,
                                2,
                                "tcp://c:5557",
                                null,
                                true,
                                "kv",
                                List.of(Taint.parse("spot:PreferNoSchedule"), Taint.parse("gpu=a")),
                                null,
                                null,
                                Capacity.UNKNOWN,
                                Map.of(),
                                null,
                                0,
                                null,
                                0),
                        WorkerSpec.of("http://a:1")),
                WorkerSpecs.of(
                        TestConfig.of(
                                Map.ofEntries(
                                        Map.entry("warmpath.worker-urls", "http://a:1/"),
                                        Map.entry("warmpath.workers[0].url", "http://c:3"),
                                        Map.entry("warmpath.workers[0].name", "big"),
                                        Map.entry(
                                                "warmpath.workers[0].taints",
                                                "spot:PreferNoSchedule,gpu=a"),
                                        Map.entry("warmpath.workers[0].id", "18446744073709551615"),
                                        Map.entry("warmpath.workers[0].kind", "vllm"),
                                        Map.entry("warmpath.workers[0].models", "m1,m2"),
                                        Map.entry("warmpath.workers[0].block-size", "32"),
                                        Map.entry("warmpath.workers[0].dp-size", "2"),
                                        Map.entry(
                                                "warmpath.workers[0].events-endpoint",
                                                "tcp://c:5557"),
                                        Map.entry("warmpath.workers[0].events-bind", "true"),
                                        Map.entry("warmpath.workers[0].topic", "kv")))));
    }

    @Test
    void what_is_wrong_names_its_key() {
        refused(
                Map.of("warmpath.worker-urls", "a:1"),
                "warmpath.worker-urls (--worker, --workers): worker URL `a:1` has no"
                        + " scheme: write `http://a:1`.");
        refused(
                Map.of("warmpath.worker-urls", "http://a:1,http://a:1/"),
                "warmpath.worker-urls (--worker, --workers): the URL http://a:1 is listed twice.");
        refused(
                Map.of(
                        "warmpath.workers[0].url",
                        "http://a:1",
                        "warmpath.workers[0].replay-endpoint",
                        "tcp://a:2"),
                "warmpath.workers[0]: worker http://a:1: events-bind and replay-endpoint need an"
                        + " events-endpoint.");
        refused(
                Map.of("warmpath.workers[0].url", "http://a:1", "warmpath.workers[0].id", "-1"),
                "warmpath.workers[0]: id -1 must be a whole number from 0 to"
                        + " 18446744073709551615.");
    }

    private static void refused(Map<String, String> properties, String message) {
        IllegalArgumentException e =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> WorkerSpecs.of(TestConfig.of(properties)));
        assertEquals(message, e.getMessage());
    }

    @Test
    void configured_words_have_the_names_of_what_they_stand_for() {
        assertEquals(
                Arrays.stream(EngineKind.values()).map(Enum::name).toList(),
                Arrays.stream(EngineKind.values()).map(Enum::name).toList());
        assertEquals(
                Arrays.stream(RouterMode.values()).map(Enum::name).toList(),
                Arrays.stream(RouterMode.values()).map(Enum::name).toList());
    }

    @Test
    void events_are_followed_only_where_somebody_looks_at_the_index() {
        assertTrue(follows(Map.of()));
        assertFalse(follows(Map.of("warmpath.router.use-kv-events", "false")));
        assertFalse(follows(Map.of("warmpath.router.overlap-score-weight", "0")));
        assertFalse(follows(Map.of("warmpath.router.mode", "vllm-cache-aware")));
        assertTrue(
                follows(
                        Map.of(
                                "warmpath.router.overlap-score-weight",
                                "0",
                                "warmpath.router.mode",
                                "round-robin")));
    }

    private static boolean follows(Map<String, String> properties) {
        return RouterSettings.followsEvents(TestConfig.of(properties));
    }

    @Test
    void the_identity_of_a_url_is_xxh64() {
        // Reference value of XXH64, seed 0, for the empty input.
        assertEquals(0xEF46DB3751D8E999L, FleetRuntime.idOfUrl(""));
    }
}
