package io.warmpath.wiring.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.router.RouterConfig;
import io.warmpath.load.LoadOptions;
import io.warmpath.routing.BlockWeights;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.TaintMatch;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.wiring.TestConfig;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Keys, presets and older names against what the router is given. */
class RouterSettingsTest {
    private static final String PREFIX = "warmpath.router.";

    private static WarmpathConfig config(String... keysAndValues) {
        Map<String, String> properties = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            properties.put(PREFIX + keysAndValues[i], keysAndValues[i + 1]);
        }
        return TestConfig.of(properties);
    }

    private static RouterConfig router(String... keysAndValues) {
        return config(keysAndValues).router();
    }

    @Test
    void the_defaults_are_those_of_the_routing_package() {
        assertEquals(CostKind.LATENCY, RouterSettings.options(config()).cost());
        assertEquals(RouterOptions.of(RouterMode.KV), RouterSettings.options(config()));
        assertEquals(LoadOptions.DEFAULT, RouterSettings.load(router()));
        assertEquals(Optional.empty(), RouterSettings.deprecation(router()));
    }

    @Test
    void each_key_reaches_its_weight() {
        RouterOptions o =
                RouterSettings.options(
                        config(
                                "overlap-score-credit", "2",
                                "overlap-score-credit-decay", "3",
                                "prefill-load-scale", "4",
                                "host-cache-hit-weight", "0.5",
                                "disk-cache-hit-weight", "0.125",
                                "decode-active-request-weight", "6",
                                "track-prefill-tokens", "false",
                                "temperature", "0.7",
                                "mode", "power-of-two"));
        BlockWeights w = o.weights();
        assertEquals(2, w.overlapCredit());
        assertEquals(3, w.creditDecay());
        assertEquals(4, w.prefillLoadScale());
        assertEquals(0.5, w.hostWeight());
        assertEquals(0.125, w.diskWeight());
        assertEquals(6, w.activeRequestWeight());
        assertFalse(w.trackPrefill());
        assertEquals(0.7, o.temperature());
        assertEquals(RouterMode.POWER_OF_TWO, o.mode());
    }

    @Test
    void the_older_weight_is_mapped_with_a_warning() {
        WarmpathConfig two = config("overlap-score-weight", "2");
        assertEquals(BlockWeights.DEFAULT.withPrefillLoadScale(2), weights(two));
        assertEquals(
                Optional.of(
                        "warmpath.router.overlap-score-weight is deprecated; it now means"
                                + " warmpath.router.prefill-load-scale = 2.0"),
                RouterSettings.deprecation(two.router()));
        WarmpathConfig none = config("overlap-score-weight", "0");
        assertEquals(BlockWeights.DEFAULT.withPrefillLoadScale(0).withCredit(0), weights(none));
        assertTrue(
                RouterSettings.deprecation(none.router())
                        .orElseThrow()
                        .endsWith("and warmpath.router.overlap-score-credit = 0"));
    }

    @Test
    void the_agentic_preset_overrules_the_keys_it_is_made_of() {
        BlockWeights w = weights(config("agentic", "true", "prefill-load-scale", "9"));
        assertEquals(2, w.overlapCredit());
        assertEquals(4, w.prefillLoadScale());
        assertEquals(64, w.activeRequestWeight());
    }

    @Test
    void each_key_reaches_what_is_booked() {
        LoadOptions o =
                RouterSettings.load(
                        router(
                                "active-request-expiry", "7s",
                                "track-output-blocks", "true",
                                "assume-kv-reuse", "false"));
        assertEquals(new LoadOptions(Duration.ofSeconds(7), true, true, false), o);
        assertFalse(RouterSettings.load(router("track-active-blocks", "false")).activeBlocks());
        RouterConfig wrong = router("track-active-blocks", "false", "track-output-blocks", "true");
        assertThrows(StartFailure.class, () -> RouterSettings.load(wrong));
    }

    @Test
    void the_load_aware_preset_counts_every_block_and_all_prefill() {
        WarmpathConfig r =
                config(
                        "load-aware", "true",
                        "track-active-blocks", "false",
                        "track-prefill-tokens", "false");
        assertTrue(RouterSettings.load(r.router()).activeBlocks());
        assertFalse(RouterSettings.load(r.router()).assumeReuse());
        assertTrue(weights(r).trackPrefill());
    }

    @Test
    void the_load_aware_preset_is_kv_mode_without_events_and_credit() {
        WarmpathConfig r = config("load-aware", "true", "mode", "random");
        assertEquals(RouterMode.KV, RouterSettings.options(r).mode());
        assertEquals(0, weights(r).overlapCredit());
        assertEquals(0, weights(r).hostWeight());
        assertFalse(RouterSettings.followsEvents(r));
    }

    @Test
    void a_credit_of_0_follows_no_events() {
        assertTrue(RouterSettings.followsEvents(config()));
        assertFalse(RouterSettings.followsEvents(config("overlap-score-credit", "0")));
    }

    @Test
    void the_latency_cost_needs_events_whatever_the_credit_and_no_preset_of_the_other() {
        WarmpathConfig r = config("cost", "latency", "overlap-score-credit", "0");
        assertEquals(CostKind.LATENCY, RouterSettings.options(r).cost());
        assertEquals(LatencyPriors.DEFAULT, RouterSettings.options(r).latency());
        assertTrue(RouterSettings.followsEvents(r));
        WarmpathConfig agentic = config("cost", "latency", "agentic", "true");
        assertThrows(StartFailure.class, () -> RouterSettings.options(agentic));
    }

    @Test
    void decisions_count_beside_events_where_that_is_said() {
        assertEquals(Optional.empty(), RouterSettings.predictedTtl(config().router()));
        assertEquals(
                Optional.of(Duration.ofSeconds(2)),
                RouterSettings.predictedTtl(config("predicted-ttl", "2s").router()));
        assertEquals(
                Optional.empty(),
                RouterSettings.predictedTtl(config("predicted-ttl", "0s").router()));
    }

    @Test
    void policy_classes_tolerate_what_is_configured() {
        RouterConfig r = router("classes.\"batch\".tolerations", "spot,dedicated=batch");
        assertEquals(
                Map.of(
                        "batch",
                        List.of(TaintMatch.parse("spot"), TaintMatch.parse("dedicated=batch"))),
                RouterSettings.classTolerations(r));
        RouterConfig wrong = router("classes.\"batch\".tolerations", "spot:NoSchedule");
        StartFailure failure =
                assertThrows(StartFailure.class, () -> RouterSettings.classTolerations(wrong));
        assertTrue(String.valueOf(failure.getMessage()).contains("batch"), failure.getMessage());
    }

    @Test
    void two_presets_at_once_stop_the_start() {
        WarmpathConfig both = config("agentic", "true", "load-aware", "true");
        assertThrows(StartFailure.class, () -> RouterSettings.options(both));
    }

    private static BlockWeights weights(WarmpathConfig r) {
        return RouterSettings.options(r).weights();
    }
}
