package io.warmpath.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.config.engine.WorkerConfig;
import io.warmpath.config.router.RouterConfig;
import io.warmpath.config.router.VllmCacheAwareConfig;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import io.warmpath.config.source.CommandLine;
import io.warmpath.config.source.ConfigCheck;
import io.warmpath.config.source.EnvironmentAliases;
import io.warmpath.config.source.ServeHelp;
import io.warmpath.config.source.UsageException;
import io.warmpath.config.source.WarmpathSources;
import io.warmpath.config.state.IndexImplementation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.routing.RouterMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same sources with the same ordinals as at run time, from values given here. */
class ConfigPrecedenceTest {
    private static final SettingCatalog CATALOG = SettingCatalog.read();

    @TempDir Path folder;

    private SmallRyeConfig config(
            Map<String, String> flags, Map<String, String> environment, String yaml) {
        SmallRyeConfigBuilder builder =
                new SmallRyeConfigBuilder()
                        .withSources(new PropertiesConfigSource(flags, "SysPropConfigSource", 400))
                        .withSources(new EnvConfigSource(environment, 300))
                        .withSources(new EnvironmentAliases(CATALOG, environment));
        try {
            Path file = folder.resolve("gateway.yaml");
            Files.writeString(file, yaml);
            builder.withSources(WarmpathSources.file(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return builder.withMapping(WarmpathConfig.class).build();
    }

    private static WarmpathConfig typed(SmallRyeConfig config) {
        return config.getConfigMapping(WarmpathConfig.class);
    }

    @Test
    void flags_beat_environment_beats_aliases_beats_file_beats_default() {
        Map<String, String> flag = Map.of("warmpath.http.port", "1");
        Map<String, String> env = Map.of("WARMPATH_HTTP_PORT", "2", "DYN_HTTP_PORT", "3");
        Map<String, String> alias = Map.of("DYN_HTTP_PORT", "3");
        String file = "warmpath:\n  http:\n    port: 4\n";
        assertEquals(1, typed(config(flag, env, file)).http().port());
        assertEquals(2, typed(config(Map.of(), env, file)).http().port());
        assertEquals(3, typed(config(Map.of(), alias, file)).http().port());
        assertEquals(4, typed(config(Map.of(), Map.of(), file)).http().port());
        assertEquals(8000, typed(config(Map.of(), Map.of(), "")).http().port());
    }

    @Test
    void every_plain_key_may_be_set_by_its_environment_name() {
        for (SettingKey key : CATALOG.keys()) {
            if (key.isPlain()) {
                String name = key.name().toUpperCase(Locale.ROOT).replaceAll("[.-]", "_");
                // Without the mapping, as at run time: it would teach the source the dashes.
                SmallRyeConfig c =
                        new SmallRyeConfigBuilder()
                                .withSources(new EnvConfigSource(Map.of(name, "\u0001"), 300))
                                .build();
                List<String> problems = ConfigCheck.problems(CATALOG, c);
                assertTrue(
                        problems.stream().noneMatch(p -> p.contains("not a known key")),
                        () -> name + ": " + problems);
            }
        }
    }

    @Test
    void every_alias_of_the_catalogue_is_read() {
        for (SettingKey key : CATALOG.keys()) {
            for (String name : ServeHelp.environment(key)) {
                String value = key.form() == SettingKey.Form.CHOICE ? key.choices().get(1) : "1";
                SmallRyeConfig c = config(Map.of(), Map.of(name, value), "");
                assertTrue(
                        c.getConfigValue(key.name()).getValue().startsWith(value),
                        name + " sets " + key.name());
            }
        }
    }

    @Test
    void an_alias_with_a_unit_keeps_its_meaning() {
        WarmpathConfig c = typed(config(Map.of(), Map.of("DYN_HTTP_BODY_LIMIT_MB", "192"), ""));
        assertEquals(192L << 20, c.http().maxBodySize().bytes());
    }

    @Test
    void the_defaults_are_those_of_the_catalogue_and_sound() {
        SmallRyeConfig config = config(Map.of(), Map.of(), "");
        assertEquals(List.of(), ConfigCheck.problems(CATALOG, config));
        WarmpathConfig c = typed(config);
        assertEquals(RouterMode.KV, c.router().mode());
        assertTrue(c.router().cost().isEmpty());
        assertTrue(c.router().overlapScoreCredit().isEmpty());
        assertTrue(c.router().overlapScoreWeight().isEmpty());
        assertEquals(IndexImplementation.NATIVE, c.index().implementation());
        assertEquals(64L << 20, c.http().maxBodySize().bytes());
        assertEquals(Duration.ofSeconds(2), c.fleet().healthInterval());
        assertEquals(WarmpathConfig.LogLevel.INFO, c.logLevel());
        assertTrue(c.router().useKvEvents());
        assertTrue(c.workers().isEmpty());
        for (SettingKey key : CATALOG.keys()) {
            if (key.defaultValue() != null) {
                assertEquals(null, key.problem(key.defaultValue()), key.name());
            }
        }
    }

    @Test
    void workers_and_tokenizers_are_read_from_the_file() {
        String yaml =
                """
                warmpath:
                  worker-urls: [http://a:1, http://b:2]
                  tokens:
                    tokenizers:
                      "org/model-1.5": /models/tokenizer.json
                  workers:
                    - url: http://c:3
                      name: big
                      id: 18446744073709551615
                      kind: vllm
                      models: [m1, m2]
                      block-size: 32
                      dp-size: 2
                      events-endpoint: tcp://c:5557
                      replay-endpoint: tcp://c:5657
                      topic: kv-events
                    - url: http://d:4
                      events-endpoint: tcp://*:5600
                      events-bind: true
                """;
        SmallRyeConfig config = config(Map.of(), Map.of(), yaml);
        assertEquals(List.of(), ConfigCheck.problems(CATALOG, config));
        WarmpathConfig c = typed(config);
        assertEquals(List.of("http://a:1", "http://b:2"), c.workerUrls().orElseThrow());
        assertEquals(Map.of("org/model-1.5", "/models/tokenizer.json"), c.tokens().tokenizers());
        WorkerConfig w = c.workers().get(0);
        assertEquals("big", w.name().orElseThrow());
        assertEquals("18446744073709551615", w.id().orElseThrow());
        assertEquals(EngineKind.VLLM, w.kind().orElseThrow());
        assertEquals(List.of("m1", "m2"), w.models().orElseThrow());
        assertEquals(2, w.dpSize());
        assertEquals("kv-events", w.topic().orElseThrow());
        assertTrue(c.workers().get(1).eventsBind());
        assertFalse(c.workers().get(1).topic().isPresent());
    }

    @Test
    void what_the_command_line_writes_the_mapping_reads() throws UsageException {
        Map<String, String> flags =
                new CommandLine(CATALOG)
                        .parse(
                                List.of(
                                        "--tokenizer",
                                        "org/m-1.5=/a.json",
                                        "--tokenizer",
                                        "/b.json",
                                        "--worker",
                                        "http://a:1",
                                        "--worker",
                                        "http://b:1"));
        WarmpathConfig c = typed(config(flags, Map.of(), ""));
        assertEquals(Map.of("org/m-1.5", "/a.json"), c.tokens().tokenizers());
        assertEquals("/b.json", c.tokens().defaultTokenizer().orElseThrow());
        assertEquals(List.of("http://a:1", "http://b:1"), c.workerUrls().orElseThrow());
    }

    private List<String> problems(
            Map<String, String> flags, Map<String, String> environment, String yaml) {
        Path file = folder.resolve("gateway.yaml");
        SmallRyeConfig config =
                new SmallRyeConfigBuilder()
                        .withSources(new PropertiesConfigSource(flags, "SysPropConfigSource", 400))
                        .withSources(new EnvConfigSource(environment, 300))
                        .withSources(new EnvironmentAliases(CATALOG, environment))
                        .withSources(source(file, yaml))
                        .build();
        return ConfigCheck.problems(CATALOG, config).stream()
                .map(p -> p.replace(file.toString(), "FILE"))
                .map(p -> p.replaceAll("YamlConfigSource\\[source=FILE\\]", "FILE"))
                .toList();
    }

    private static org.eclipse.microprofile.config.spi.ConfigSource source(Path file, String yaml) {
        try {
            Files.writeString(file, yaml);
            return WarmpathSources.file(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void a_value_out_of_range_names_key_value_source_and_range() {
        assertEquals(
                List.of(
                        "warmpath.http.port = 99999 (from the environment) must be a whole number"
                                + " from 0 to 65535."),
                problems(Map.of(), Map.of("WARMPATH_HTTP_PORT", "99999"), ""));
        assertEquals(
                List.of(
                        "warmpath.router.mode = best (from the environment, DYN_ROUTER_MODE) must"
                                + " be one of kv, random, round-robin, power-of-two, least-loaded, direct, vllm-cache-aware."),
                problems(Map.of(), Map.of("DYN_ROUTER_MODE", "best"), ""));
        assertEquals(
                List.of(
                        "warmpath.fleet.health-interval = 1ms (from FILE) must be a duration such"
                                + " as 250ms, 2s or 5m from 10ms to 10m."),
                problems(Map.of(), Map.of(), "warmpath:\n  fleet:\n    health-interval: 1ms\n"));
        assertEquals(
                List.of(
                        "warmpath.workers[0].dp-size = 5000 (from FILE) must be a whole number from"
                                + " 0 to 1024."),
                problems(
                        Map.of(),
                        Map.of(),
                        "warmpath:\n  workers:\n    - url: http://a\n      dp-size: 5000\n"));
    }

    @Test
    void an_unknown_key_in_the_file_is_named_with_the_nearest_known_one() {
        assertEquals(
                List.of(
                        "warmpath.router.mod (from FILE) is not a known key. Did you mean"
                                + " warmpath.router.mode?"),
                problems(Map.of(), Map.of(), "warmpath:\n  router:\n    mod: kv\n"));
        assertEquals(
                List.of(
                        "warmpath.workers[0].urll (from FILE) is not a known key. Did you mean"
                                + " warmpath.workers[*].url?",
                        "warmpath.workers[0].url is missing."),
                problems(Map.of(), Map.of(), "warmpath:\n  workers:\n    - urll: http://a\n"));
    }

    @Test
    void settings_of_one_model_are_checked_like_those_of_all() {
        String model =
                "warmpath:\n  routing:\n    vllm-cache-aware:\n      models:\n"
                        + "        \"org/m.v1\":\n          ";
        String key = "warmpath.routing.vllm-cache-aware.models.\"org/m.v1\".";
        assertEquals(List.of(), problems(Map.of(), Map.of(), model + "block-size: 32\n"));
        assertEquals(
                32,
                typed(config(Map.of(), Map.of(), model + "block-size: 32\n"))
                        .routing()
                        .vllmCacheAware()
                        .models()
                        .get("org/m.v1")
                        .blockSize()
                        .orElseThrow());
        assertEquals(
                List.of(key + "load-factor = 0.5 (from FILE) must be a number from 1 to 1000000."),
                problems(Map.of(), Map.of(), model + "load-factor: 0.5\n"));
        assertEquals(
                List.of(
                        key
                                + "factor (from FILE) is not a known key. Did you mean"
                                + " warmpath.routing.vllm-cache-aware.models.*.load-factor?"),
                problems(Map.of(), Map.of(), model + "factor: 2\n"));
    }

    @Test
    void a_mode_may_be_spelt_with_underscores_and_a_time_with_a_fraction() {
        Map<String, String> env =
                Map.of(
                        "DYN_ROUTER_MODE", "vllm_cache_aware",
                        "DYN_ROUTER_TTL_SECS", "120.0",
                        "DYN_ROUTER_PREDICTED_TTL_SECS", "2.5",
                        "DYN_ROUTER_USE_KV_EVENTS", "false");
        assertEquals(List.of(), problems(Map.of(), env, ""));
        RouterConfig router = typed(config(Map.of(), env, "")).router();
        assertEquals(RouterMode.VLLM_CACHE_AWARE, router.mode());
        assertEquals(Duration.ofMinutes(2), router.ttl());
        assertEquals(Optional.of(Duration.ofMillis(2500)), router.predictedTtl());
        assertEquals(
                Optional.empty(), typed(config(Map.of(), Map.of(), "")).router().predictedTtl());
    }

    @Test
    void a_key_that_would_set_nothing_is_refused() {
        assertEquals(
                List.of(
                        "warmpath.http.port (from FILE) must be written nested, one level per"
                                + " line."),
                problems(Map.of(), Map.of(), "warmpath.http.port: 9000"));
    }

    @Test
    void the_level_warmpath_may_be_left_out_and_words_be_joined_by_underscores() {
        String yaml =
                """
                routing:
                  policy: vllm_cache_aware
                  vllm_cache_aware:
                    block_size: 16
                    eviction_interval_secs: 60
                    models:
                      my_model:
                        load_factor: 2
                      "org/m.v1_x":
                        block_size: 32
                warmpath:
                  http:
                    max_body_size: 1M
                worker_urls: [http://a:1, http://b:2]
                workers:
                  - url: http://c:3
                    dp_size: 2
                tokens:
                  tokenizers:
                    my_model: /m/tokenizer.json
                """;
        assertEquals(List.of(), problems(Map.of(), Map.of(), yaml));
        WarmpathConfig c = typed(config(Map.of(), Map.of(), yaml));
        assertEquals(RouterMode.VLLM_CACHE_AWARE, c.router().mode());
        VllmCacheAwareConfig v = c.routing().vllmCacheAware();
        assertEquals(16, v.blockSize());
        assertEquals(Duration.ofSeconds(60), v.evictionIntervalSecs());
        assertEquals(2, v.models().get("my_model").loadFactor().orElseThrow());
        assertEquals(32, v.models().get("org/m.v1_x").blockSize().orElseThrow());
        assertEquals(1 << 20, c.http().maxBodySize().bytes());
        assertEquals(List.of("http://a:1", "http://b:2"), c.workerUrls().orElseThrow());
        assertEquals(2, c.workers().get(0).dpSize());
        assertEquals(Map.of("my_model", "/m/tokenizer.json"), c.tokens().tokenizers());
    }

    @Test
    void one_key_under_two_names_is_refused() {
        assertEquals(
                List.of(
                        "warmpath.router.mode and routing.policy (from FILE) are one key; leave one"
                                + " of them out."),
                problems(
                        Map.of(),
                        Map.of(),
                        "routing:\n  policy: kv\nwarmpath:\n  router:\n    mode: kv\n"));
    }

    @Test
    void an_unknown_key_is_told_with_the_nearest_one_in_the_writers_own_manner() {
        String yaml = "routing:\n  polcy: kv\n  vllm_cache_aware:\n    blocksize: 16\n";
        assertEquals(
                List.of(
                        "routing.polcy (from FILE) is not a known key. Did you mean"
                                + " routing.policy?",
                        "routing.vllm_cache_aware.blocksize (from FILE) is not a known key. Did you"
                                + " mean routing.vllm_cache_aware.block_size?"),
                problems(Map.of(), Map.of(), yaml));
        assertEquals(
                List.of("zebra (from FILE) is not a known key. `serve --help all` lists all keys."),
                problems(Map.of(), Map.of(), "zebra: 1\n"));
        assertEquals(
                List.of(
                        "warmpath.router.mode = best (from FILE) must be one of kv, random,"
                                + " round-robin, power-of-two, least-loaded, direct,"
                                + " vllm-cache-aware."),
                problems(Map.of(), Map.of(), "routing:\n  policy: best\n"));
    }

    @Test
    void a_secret_is_never_printed() {
        // A secret has no form that could be wrong, so the rule is checked on the catalogue: what
        // holds a secret has no flag (ps would show it) and no default.
        List<SettingKey> secrets =
                CATALOG.keys().stream().filter(k -> k.setting().secret()).toList();
        assertEquals(
                List.of(
                        "warmpath.admin.token",
                        "warmpath.auth.engine-key",
                        "warmpath.auth.keys",
                        "warmpath.nats.password",
                        "warmpath.nats.token",
                        "warmpath.replica.secret",
                        "warmpath.telemetry.traces.headers"),
                secrets.stream().map(SettingKey::name).sorted().toList());
        for (SettingKey secret : secrets) {
            assertEquals(List.of(), secret.setting().flags(), secret.name());
            assertEquals(null, secret.defaultValue(), secret.name());
        }
    }

    @Test
    void a_file_that_is_not_yaml_is_refused() throws IOException {
        Path file = folder.resolve("bad.yaml");
        Files.writeString(file, "a: [1");
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> WarmpathSources.file(file));
        assertTrue(e.getMessage().contains("bad.yaml is not valid YAML"), e.getMessage());
    }
}
