package io.warmpath.wiring.tokens;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.fleet.AdapterBases;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.ModelName;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.tokens.model.ModelSource;
import io.warmpath.tokens.model.ModelSources;
import io.warmpath.wiring.TestConfig;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelSettingsTest {
    private static final String LLAMA = "warmpath.models.\"llama-3.1\".";
    private static final String SQL = "warmpath.models.\"sql\".";

    private static WarmpathConfig config(String... keysAndValues) {
        Map<String, String> properties = new HashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            properties.put(keysAndValues[i], keysAndValues[i + 1]);
        }
        return TestConfig.of(properties);
    }

    @Test
    void names_stand_for_what_engines_serve() {
        ModelNames names =
                ModelSettings.names(
                        config(
                                LLAMA + "aliases", "gpt-4o,small",
                                LLAMA + "lora", "sql,law",
                                LLAMA + "namespace", "blue",
                                SQL + "aliases", "db",
                                SQL + "namespace", "red"),
                        new AdapterBases());
        assertEquals(new ModelName("small", "llama-3.1", "llama-3.1", "blue"), names.of("small"));
        assertEquals(new ModelName("law", "law", "llama-3.1", "blue"), names.of("law"));
        assertEquals(new ModelName("sql", "sql", "llama-3.1", "red"), names.of("sql"));
        assertEquals(new ModelName("db", "sql", "llama-3.1", "red"), names.of("db"));
        assertEquals(
                new ModelName("llama-3.1:sql", "sql", "llama-3.1", "red"),
                names.of("llama-3.1:sql"));
        assertEquals(ModelName.plain("other"), names.of("other"));
    }

    @Test
    void adapters_that_engines_tell_of_stand_beside_those_that_are_configured() {
        AdapterBases told = new AdapterBases();
        ModelNames names =
                ModelSettings.names(
                        config(LLAMA + "aliases", "small", LLAMA + "namespace", "blue"), told);
        assertEquals(ModelName.plain("sql"), names.of("sql"));
        told.take(
                new FleetSnapshot(
                        1,
                        List.of(
                                Worker.builder(1, "w", URI.create("http://w"))
                                        .served(
                                                new ServedModels(
                                                        Set.of("llama-3.1", "q", "sql", "law"),
                                                        Map.of("sql", "llama-3.1", "law", "q")))
                                        .ranks(List.of(new Worker.Rank(0, new WorkerSlot(1))))
                                        .build())));
        assertEquals(new ModelName("sql", "sql", "llama-3.1", "blue"), names.of("sql"));
        assertEquals("sql", names.of("sql").lora());
        assertEquals(new ModelName("law", "law", "q", ""), names.of("law"));
        assertEquals(new ModelName("q:law", "law", "q", ""), names.of("q:law"));
        assertEquals(ModelName.plain("q:sql"), names.of("q:sql"));
        assertEquals(ModelName.plain(":law"), names.of(":law"));
        assertEquals("llama-3.1", names.base("sql"));
        assertEquals("llama-3.1", names.base("small"));
        assertEquals("other", names.base("other"));
    }

    @Test
    void files_are_those_of_the_model_and_adapters_have_their_bases() {
        ModelSources sources =
                ModelSettings.sources(
                        config(
                                LLAMA + "path",
                                "/m/llama",
                                LLAMA + "chat-template",
                                "/m/own.jinja",
                                LLAMA + "lora",
                                "sql",
                                SQL + "aliases",
                                "db",
                                "warmpath.models.\"q\".tokenizer",
                                "/m/q.json",
                                "warmpath.tokens.tokenizers.\"old\"",
                                "/m/old",
                                "warmpath.tokens.default-tokenizer",
                                "/m/any"));
        ModelSource llama = new ModelSource(Path.of("/m/llama"), null, Path.of("/m/own.jinja"));
        assertEquals(
                Map.of(
                        "llama-3.1",
                        llama,
                        "q",
                        ModelSource.of(Path.of("/m/q.json")),
                        "old",
                        ModelSource.of(Path.of("/m/old"))),
                sources.byModel());
        assertEquals(ModelSource.of(Path.of("/m/any")), sources.fallback());
        assertNull(ModelSettings.sources(config()).fallback());
    }

    @Test
    void an_adapter_has_files_of_its_own_where_its_base_has_none() {
        ModelSources sources =
                ModelSettings.sources(config(LLAMA + "lora", "sql", SQL + "path", "/m/sql"));
        assertEquals(Map.of("sql", ModelSource.of(Path.of("/m/sql"))), sources.byModel());
        assertThrows(
                IllegalArgumentException.class,
                () ->
                        ModelSettings.sources(
                                config(
                                        LLAMA + "lora", "sql",
                                        LLAMA + "path", "/m/llama",
                                        SQL + "path", "/m/sql")));
    }

    @Test
    void whether_engines_are_asked_is_said_of_an_adapter_or_of_its_base() {
        TokenOrigins origins =
                new TokenOrigins(
                        model -> false,
                        ModelSettings.askingEngines(
                                config(
                                        LLAMA + "lora", "sql,law",
                                        LLAMA + "ask-engine", "false",
                                        SQL + "ask-engine", "true")),
                        model -> model.equals("other") ? model : "llama-3.1",
                        true,
                        worker -> {});
        assertTrue(origins.asksEngines("sql"));
        assertFalse(origins.asksEngines("law"));
        assertFalse(origins.asksEngines("llama-3.1"));
        assertTrue(origins.asksEngines("other"));
    }

    @Test
    void a_block_size_is_that_of_the_workers_models_or_that_for_all() {
        WarmpathConfig config =
                config(
                        LLAMA + "block-size",
                        "64",
                        SQL + "block-size",
                        "32",
                        "warmpath.fleet.default-block-size",
                        "128");
        assertEquals(64, ModelSettings.blockSize(config, Set.of("llama-3.1", "x")));
        assertEquals(32, ModelSettings.blockSize(config, Set.of("llama-3.1", "sql")));
        assertEquals(128, ModelSettings.blockSize(config, Set.of("x")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "chat-template | /m/t.jinja | 'chat-template needs `path` or `tokenizer`, too.'",
                "aliases | sql | 'aliases must not have `sql`, which is the name of another model.'",
                "aliases | 'a\"b' | 'aliases must be names without quotes.'",
                "lora | llama-3.1 | 'lora must not have `llama-3.1`, which belongs to another model.'",
                "lora | law | 'lora must not have `law`, which belongs to another model.'",
                "namespace | a:b | 'namespace must be without a colon.'",
                "path | /m/new | 'path is set for a model that has `--tokenizer`, too.'"
            })
    void what_makes_no_sense_is_told_with_its_key(String key, String value, String problem) {
        WarmpathConfig config =
                config(
                        LLAMA + key,
                        value,
                        SQL + "lora",
                        "law",
                        "warmpath.tokens.tokenizers.\"llama-3.1\"",
                        "/m/old");
        String told =
                assertThrows(IllegalArgumentException.class, () -> check(config)).getMessage();
        // Which of two models with one adapter is told of depends on their order.
        assertTrue(told.startsWith("warmpath.models."), told);
        assertTrue(told.endsWith(problem), told);
    }

    private static void check(WarmpathConfig config) {
        ModelSettings.names(config, new AdapterBases());
        ModelSettings.sources(config);
    }

    @Test
    void lists_of_a_file_are_known_keys() {
        SettingCatalog catalog = SettingCatalog.read();
        for (String key : new String[] {"aliases[0]", "lora[1]", "aliases", "path"}) {
            assertTrue(catalog.find(LLAMA + key).isPresent(), key);
        }
        assertTrue(catalog.find(LLAMA + "alias").isEmpty());
    }
}
