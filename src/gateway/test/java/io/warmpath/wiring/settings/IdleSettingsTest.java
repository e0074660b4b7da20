package io.warmpath.wiring.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.wiring.TestConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class IdleSettingsTest {
    private static List<String> told(String... keysAndValues) {
        Map<String, String> properties = new HashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            properties.put("warmpath." + keysAndValues[i], keysAndValues[i + 1]);
        }
        return IdleSettings.of(TestConfig.of(properties));
    }

    @Test
    void nothing_is_told_of_settings_that_do_their_work() {
        assertEquals(List.of(), told());
        assertEquals(List.of(), told("session.pins.enabled", "true"));
        assertEquals(
                List.of(),
                told(
                        "events.plane",
                        "nats",
                        "state.shared.reset",
                        "true",
                        "state.shared.threshold",
                        "500"));
        assertEquals(List.of(), told("state.shared.reset", "true", "state.directory", "/state"));
        // Mode kv comes with load-aware, whatever else is set.
        assertEquals(
                List.of(),
                told(
                        "session.pins.enabled",
                        "true",
                        "router.mode",
                        "random",
                        "router.load-aware",
                        "true"));
    }

    @Test
    void a_reset_without_a_state_and_a_threshold_without_a_stream_are_told() {
        List<String> told = told("state.shared.reset", "true", "state.shared.threshold", "500");
        assertEquals(2, told.size(), told::toString);
        assertTrue(
                told.get(0)
                        .equals(
                                "--router-reset-states has nothing to reset: this gateway keeps no"
                                        + " state over a restart. State is kept in NATS with"
                                        + " --event-plane nats, and in a directory with"
                                        + " --state-directory."),
                told::toString);
        assertTrue(told.get(1).startsWith("--router-snapshot-threshold has no effect"));
        assertTrue(told.get(1).endsWith("This gateway writes no snapshots."), told::toString);
        List<String> kept = told("state.shared.threshold", "500", "state.directory", "/state");
        assertTrue(kept.getFirst().contains("warmpath.state.interval"), kept::toString);
        // Without events there is no stream, whatever the plane.
        assertEquals(
                1,
                told(
                                "events.plane",
                                "nats",
                                "router.use-kv-events",
                                "false",
                                "state.shared.reset",
                                "true")
                        .size());
    }

    @Test
    void what_the_named_cost_does_not_read_is_told_once() {
        List<String> told =
                told(
                        "router.cost",
                        "latency",
                        "router.prefill-load-scale",
                        "2",
                        "router.ttl",
                        "1m");
        assertEquals(1, told.size(), told::toString);
        assertTrue(told.getFirst().startsWith("With --router-cost latency"), told::toString);
        assertTrue(told.getFirst().contains(": warmpath.router.prefill-load-scale."));
        // Where it decides which cost is taken, it has its effect.
        assertEquals(List.of(), told("router.prefill-load-scale", "2"));
    }

    @Test
    void pins_outside_of_mode_kv_are_told_once() {
        for (String mode : List.of("round-robin", "random", "least-loaded", "vllm-cache-aware")) {
            List<String> told = told("session.pins.enabled", "true", "router.mode", mode);
            assertEquals(1, told.size(), mode);
            assertTrue(
                    told.getFirst().startsWith("--enable-cache-control")
                            && told.getFirst().contains("--router-mode " + mode)
                            && told.getFirst().endsWith("Set --router-mode kv."),
                    told::toString);
        }
    }
}
