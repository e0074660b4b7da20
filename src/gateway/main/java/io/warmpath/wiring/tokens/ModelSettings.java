package io.warmpath.wiring.tokens;

import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.tokens.AskEngine;
import io.warmpath.config.tokens.ModelConfig;
import io.warmpath.fleet.AdapterBases;
import io.warmpath.gateway.request.ModelName;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.tokens.model.ModelSource;
import io.warmpath.tokens.model.ModelSources;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The models of the configuration: their names, their files, their blocks. Stateless. */
public final class ModelSettings {
    private ModelSettings() {}

    /**
     * What clients' names stand for.
     *
     * @param told the bases of adapters that the configuration does not name
     * @throws IllegalArgumentException naming the key and what is wrong
     */
    public static ModelNames names(WarmpathConfig config, AdapterBases told) {
        Map<String, String> bases = bases(config);
        Map<String, ModelName> names = new HashMap<>();
        bases.forEach(
                (adapter, base) -> {
                    String namespace =
                            namespace(config, adapter).or(() -> namespace(config, base)).orElse("");
                    names.put(adapter, new ModelName(adapter, adapter, base, namespace));
                });
        entries(config)
                .forEach(
                        (model, entry) -> {
                            if (!bases.containsKey(model)) {
                                String namespace = namespace(config, model).orElse("");
                                names.put(model, new ModelName(model, model, model, namespace));
                            }
                        });
        Map<String, ModelName> all = new HashMap<>(names);
        // SGLang's way to name an adapter works on every engine.
        bases.forEach((adapter, base) -> alias(all, base + ':' + adapter, names.get(adapter)));
        entries(config)
                .forEach(
                        (model, entry) -> {
                            for (String alias : entry.aliases().orElse(List.of())) {
                                require(
                                        !alias.isBlank()
                                                && alias.chars()
                                                        .noneMatch(c -> c < ' ' || c == '"'),
                                        model,
                                        "aliases",
                                        "must be names without quotes");
                                require(
                                        alias(all, alias, names.get(model)),
                                        model,
                                        "aliases",
                                        "must not have `"
                                                + alias
                                                + "`, which is the name of another model");
                            }
                        });
        return new ModelNames(all, told);
    }

    /**
     * @return false when the name is taken
     */
    private static boolean alias(
            Map<String, ModelName> names, String alias, @Nullable ModelName of) {
        if (of == null) {
            throw new IllegalStateException(alias + " stands for nothing");
        }
        return names.putIfAbsent(
                        alias, new ModelName(alias, of.served(), of.base(), of.namespace()))
                == null;
    }

    /**
     * Which files are whose. Adapters have those of their bases, and none of their own beside them.
     *
     * @throws IllegalArgumentException naming the key and what is wrong
     */
    public static ModelSources sources(WarmpathConfig config) {
        Map<String, ModelSource> sources = new HashMap<>();
        config.tokens()
                .tokenizers()
                .forEach((model, file) -> sources.put(model, ModelSource.of(Path.of(file))));
        entries(config)
                .forEach(
                        (model, entry) -> {
                            ModelSource own = source(model, entry);
                            require(
                                    own == null || sources.put(model, own) == null,
                                    model,
                                    "path",
                                    "is set for a model that has `--tokenizer`, too");
                        });
        Optional<ModelSource> others =
                config.tokens().defaultTokenizer().map(file -> ModelSource.of(Path.of(file)));
        bases(config)
                .forEach(
                        (adapter, base) ->
                                require(
                                        !sources.containsKey(adapter) || !sources.containsKey(base),
                                        adapter,
                                        "path",
                                        "is set for an adapter, which has the tokens of `"
                                                + base
                                                + "`"));
        return new ModelSources(sources, others.orElse(null));
    }

    /** What is said of whether engines are asked about prompts; of adapters what is their own. */
    public static Map<String, Boolean> askingEngines(WarmpathConfig config) {
        Map<String, Boolean> models = new TreeMap<>();
        entries(config)
                .forEach(
                        (model, entry) -> {
                            if (entry.askEngine() != AskEngine.AUTO) {
                                models.put(model, entry.askEngine() == AskEngine.TRUE);
                            }
                        });
        return models;
    }

    private static @Nullable ModelSource source(String model, ModelConfig entry) {
        Optional<Path> tokenizer = entry.tokenizer().map(Path::of);
        Optional<Path> template = entry.chatTemplate().map(Path::of);
        if (entry.path().isEmpty() && tokenizer.isEmpty()) {
            require(template.isEmpty(), model, "chat-template", "needs `path` or `tokenizer`, too");
            return null;
        }
        return new ModelSource(
                entry.path().map(Path::of).or(() -> tokenizer).orElseThrow(),
                entry.path().isEmpty() ? null : tokenizer.orElse(null),
                template.orElse(null));
    }

    /** The smallest that is set for any of these; else the one for all. */
    public static int blockSize(WarmpathConfig config, Set<String> served) {
        return served.stream()
                .map(config.models()::get)
                .filter(entry -> entry != null)
                .flatMap(entry -> entry.blockSize().stream())
                .min(Integer::compare)
                .orElse(config.fleet().defaultBlockSize());
    }

    /** Adapters with their bases. */
    private static Map<String, String> bases(WarmpathConfig config) {
        Map<String, String> bases = new TreeMap<>();
        entries(config)
                .forEach(
                        (model, entry) -> {
                            for (String adapter : entry.lora().orElse(List.of())) {
                                require(
                                        !adapter.equals(model) && bases.put(adapter, model) == null,
                                        model,
                                        "lora",
                                        "must not have `"
                                                + adapter
                                                + "`, which belongs to another model");
                            }
                        });
        bases.forEach(
                (adapter, base) ->
                        require(
                                !bases.containsKey(base),
                                base,
                                "lora",
                                "must not be set for an adapter"));
        return bases;
    }

    private static Optional<String> namespace(WarmpathConfig config, String model) {
        ModelConfig entry = config.models().get(model);
        Optional<String> namespace = entry == null ? Optional.empty() : entry.namespace();
        namespace.ifPresent(
                text ->
                        require(
                                text.indexOf(':') < 0,
                                model,
                                "namespace",
                                "must be without a colon"));
        return namespace;
    }

    /** In the order of their names, so that the same mistake gives the same sentence. */
    private static Map<String, ModelConfig> entries(WarmpathConfig config) {
        return new TreeMap<>(config.models());
    }

    private static void require(boolean holds, String model, String key, String what) {
        if (!holds) {
            throw new IllegalArgumentException(
                    "warmpath.models.\"" + model + "\"." + key + " " + what + ".");
        }
    }
}
