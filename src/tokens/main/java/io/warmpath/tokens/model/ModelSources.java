package io.warmpath.tokens.model;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which model has which files. Immutable.
 *
 * @param byModel by the name that engines serve the model under
 * @param fallback of models that are not named; null: they get no tokens
 */
public record ModelSources(Map<String, ModelSource> byModel, @Nullable ModelSource fallback) {
    public ModelSources {
        byModel = Map.copyOf(byModel);
    }

    /** Directories or tokenizer.json files alone. */
    public static ModelSources of(Map<String, Path> byModel, @Nullable Path fallback) {
        Map<String, ModelSource> sources = new HashMap<>();
        byModel.forEach((model, path) -> sources.put(model, ModelSource.of(path)));
        return new ModelSources(sources, fallback == null ? null : ModelSource.of(fallback));
    }

    /** Each once, however many models use it. */
    Set<ModelSource> distinct() {
        Set<ModelSource> all = new LinkedHashSet<>(byModel.values());
        if (fallback != null) {
            all.add(fallback);
        }
        return all;
    }
}
