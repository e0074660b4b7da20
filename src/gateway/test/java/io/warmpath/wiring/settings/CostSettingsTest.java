package io.warmpath.wiring.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import io.warmpath.config.source.CommandLine;
import io.warmpath.config.source.EnvironmentAliases;
import io.warmpath.config.source.WarmpathSources;
import io.warmpath.routing.BlockWeights;
import io.warmpath.routing.CostKind;
import io.warmpath.wiring.TestConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which cost is taken, by what is set, and what the start says of it. */
class CostSettingsTest {
    /** Of the router's and pools' keys those that say nothing about which cost is meant. */
    private static final Set<String> NEUTRAL =
            Set.of(
                    "warmpath.router.active-request-expiry",
                    "warmpath.router.classes.*.tolerations",
                    "warmpath.router.cost",
                    "warmpath.router.mode",
                    "warmpath.router.predicted-ttl",
                    "warmpath.router.temperature",
                    "warmpath.router.ttl",
                    "warmpath.router.use-kv-events",
                    "warmpath.shared-cache.check-interval",
                    "warmpath.shared-cache.deadline",
                    "warmpath.shared-cache.engine-version",
                    "warmpath.shared-cache.held-ttl",
                    "warmpath.shared-cache.keys-per-request",
                    "warmpath.shared-cache.lmcache-pull",
                    "warmpath.shared-cache.lmcache-reply",
                    "warmpath.shared-cache.masters",
                    "warmpath.shared-cache.missing-ttl",
                    "warmpath.shared-cache.timeout",
                    "warmpath.shared-cache.type");

    private static WarmpathConfig config(String... keysAndValues) {
        Map<String, String> properties = new HashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            properties.put("warmpath." + keysAndValues[i], keysAndValues[i + 1]);
        }
        return TestConfig.of(properties);
    }

    private static WarmpathConfig from(ConfigSource source) {
        return new SmallRyeConfigBuilder()
                .withSources(source)
                .withMapping(WarmpathConfig.class)
                .build()
                .getConfigMapping(WarmpathConfig.class);
    }

    @Test
    void milliseconds_are_the_default_and_what_is_named_is_taken() {
        assertEquals(CostKind.LATENCY, CostSettings.cost(config()));
        assertEquals(CostKind.LATENCY, CostSettings.cost(config("router.cost", "latency")));
        assertEquals(CostKind.BLOCKS, CostSettings.cost(config("router.cost", "blocks")));
        for (WarmpathConfig quiet :
                List.of(
                        config(),
                        config("router.cost", "latency"),
                        config("router.cost", "blocks", "router.prefill-load-scale", "2"))) {
            assertEquals(Optional.empty(), CostSettings.taken(quiet));
            assertEquals(Optional.empty(), CostSettings.idle(quiet));
        }
    }

    /** A weight counts whatever its value, a switch when it is not as it would be anyway. */
    @ParameterizedTest
    @CsvSource({
        "router.overlap-score-credit, 1.0, BLOCKS",
        "router.overlap-score-credit, 0, BLOCKS",
        "router.overlap-score-credit-decay, 0.0, BLOCKS",
        "router.prefill-load-scale, 1.0, BLOCKS",
        "router.overlap-score-weight, 1, BLOCKS",
        "router.decode-active-request-weight, 0, BLOCKS",
        "router.host-cache-hit-weight, 0.75, BLOCKS",
        "router.disk-cache-hit-weight, 0.25, BLOCKS",
        "router.agentic, true, BLOCKS",
        "router.agentic, false, LATENCY",
        "router.load-aware, true, BLOCKS",
        "router.load-aware, false, LATENCY",
        "router.track-prefill-tokens, false, BLOCKS",
        "router.track-prefill-tokens, true, LATENCY",
        "router.track-active-blocks, false, BLOCKS",
        "router.track-active-blocks, true, LATENCY",
        "router.track-output-blocks, true, BLOCKS",
        "router.track-output-blocks, false, LATENCY",
        "router.assume-kv-reuse, false, BLOCKS",
        "router.assume-kv-reuse, true, LATENCY",
        "shared-cache.multiplier, 0, BLOCKS",
        "shared-cache.hits, any, BLOCKS",
        "shared-cache.hits, contiguous, LATENCY",
        "shared-cache.type, hicache, LATENCY",
        "router.temperature, 0.5, LATENCY",
        "router.predicted-ttl, 1s, LATENCY",
        "router.latency.work-price, 0.5, LATENCY",
        "router.mode, direct, LATENCY"
    })
    void a_key_that_only_the_cost_in_blocks_reads_asks_for_it(
            String key, String value, CostKind cost) {
        assertEquals(cost, CostSettings.cost(config(key, value)));
        Optional<String> taken = CostSettings.taken(config(key, value));
        assertEquals(cost == CostKind.BLOCKS, taken.isPresent());
        taken.ifPresent(
                line ->
                        assertEquals(
                                "Costs are in blocks, as with --router-cost blocks: only that cost"
                                        + " reads warmpath."
                                        + key
                                        + ". Where nothing of the kind is set, or with"
                                        + " --router-cost latency, they are in milliseconds.",
                                line));
        // What is named wins, and is told that the key says nothing to it.
        assertEquals(
                CostKind.LATENCY, CostSettings.cost(config(key, value, "router.cost", "latency")));
        assertEquals(
                cost == CostKind.BLOCKS,
                CostSettings.idle(config(key, value, "router.cost", "latency")).isPresent());
    }

    @Test
    void one_line_names_all_that_decided() {
        String line =
                CostSettings.taken(
                                config(
                                        "router.agentic", "true",
                                        "router.prefill-load-scale", "4",
                                        "shared-cache.multiplier", "0.5"))
                        .orElseThrow();
        assertTrue(
                line.contains(
                        "reads warmpath.router.prefill-load-scale, warmpath.router.agentic,"
                                + " warmpath.shared-cache.multiplier."),
                line);
        assertEquals(
                "With --router-cost latency these keys have no effect on which worker is chosen:"
                        + " warmpath.router.prefill-load-scale, warmpath.router.track-output-blocks."
                        + " They count in the cost in blocks (--router-cost blocks), and for"
                        + " requests that ask for it by a router_config_override.",
                CostSettings.idle(
                                config(
                                        "router.cost", "latency",
                                        "router.track-output-blocks", "true",
                                        "router.prefill-load-scale", "4"))
                        .orElseThrow());
    }

    @Test
    void where_no_costs_are_compared_nothing_is_said() {
        for (String mode : List.of("random", "round-robin", "vllm-cache-aware")) {
            assertEquals(
                    Optional.empty(),
                    CostSettings.taken(
                            config("router.mode", mode, "router.prefill-load-scale", "2")));
            assertEquals(
                    Optional.empty(),
                    CostSettings.idle(
                            config(
                                    "router.mode", mode,
                                    "router.cost", "latency",
                                    "router.prefill-load-scale", "2")));
        }
        // The preset makes the mode kv.
        assertTrue(
                CostSettings.taken(config("router.mode", "random", "router.load-aware", "true"))
                        .isPresent());
    }

    @Test
    void it_does_not_matter_where_a_key_is_set() throws Exception {
        Map<String, String> flags =
                new CommandLine(SettingCatalog.read())
                        .parse(List.of("--kv-overlap-score-weight", "1"));
        assertEquals(
                CostKind.BLOCKS,
                CostSettings.cost(from(new PropertiesConfigSource(flags, "flags", 400))));
        assertEquals(
                CostKind.BLOCKS,
                CostSettings.cost(
                        from(
                                new EnvironmentAliases(
                                        SettingCatalog.read(),
                                        Map.of("DYN_ROUTER_PREFILL_LOAD_SCALE", "1")))));
        assertEquals(
                CostKind.BLOCKS,
                CostSettings.cost(
                        from(
                                WarmpathSources.yaml(
                                        "gateway.yaml", "router:\n  overlap_score_credit: 1\n"))));
        assertEquals(
                CostKind.LATENCY,
                CostSettings.cost(
                        from(WarmpathSources.yaml("gateway.yaml", "router:\n  temperature: 1\n"))));
    }

    /** Whoever adds a key says here, or in the table of block keys, which it is. */
    @Test
    void every_key_of_the_router_and_of_pools_is_of_one_kind() {
        Set<String> known =
                Stream.concat(
                                CostSettings.BLOCK_KEYS.stream().map(CostSettings.BlockKey::name),
                                NEUTRAL.stream())
                        .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(CostSettings.BLOCK_KEYS.size() + NEUTRAL.size(), known.size());
        assertEquals(
                SettingCatalog.read().keys().stream()
                        .map(SettingKey::name)
                        .filter(
                                k ->
                                        (k.startsWith("warmpath.router.")
                                                        || k.startsWith("warmpath.shared-cache."))
                                                && !k.startsWith("warmpath.router.latency."))
                        .collect(Collectors.toCollection(TreeSet::new)),
                known);
    }

    @Test
    void the_documents_have_each_block_key_with_its_reason() throws Exception {
        String page = Files.readString(Path.of("src/docs/explanation/routing.md"));
        for (CostSettings.BlockKey key : CostSettings.BLOCK_KEYS) {
            String name = key.name().replace("warmpath.router.", "").replace("warmpath.", "");
            assertTrue(
                    page.contains("\n| `" + name + "` | " + key.why() + " |\n"),
                    () -> "missing: | `" + name + "` | " + key.why() + " |");
        }
    }

    @Test
    void what_is_shown_as_their_defaults_is_what_holds() {
        BlockWeights d = BlockWeights.DEFAULT;
        Map<String, Double> held =
                Map.of(
                        "router.overlap-score-credit", d.overlapCredit(),
                        "router.overlap-score-credit-decay", d.creditDecay(),
                        "router.prefill-load-scale", d.prefillLoadScale(),
                        "router.decode-active-request-weight", d.activeRequestWeight(),
                        "router.host-cache-hit-weight", d.hostWeight(),
                        "router.disk-cache-hit-weight", d.diskWeight(),
                        "shared-cache.multiplier", 0.0);
        held.forEach(
                (key, value) ->
                        assertEquals(
                                value,
                                Double.parseDouble(
                                        SettingCatalog.read()
                                                .find("warmpath." + key)
                                                .orElseThrow()
                                                .shownDefault()),
                                key));
        assertEquals(
                CostSettings.cost(config()).flag(),
                SettingCatalog.read().find("warmpath.router.cost").orElseThrow().shownDefault());
    }
}
