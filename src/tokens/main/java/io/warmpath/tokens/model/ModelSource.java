package io.warmpath.tokens.model;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where the files of a model lie. Immutable.
 *
 * @param path a directory, or a tokenizer.json with the others beside it
 * @param tokenizer another tokenizer.json, or the directory that holds it; null: the one of {@code
 *     path}
 * @param chatTemplate Jinja source of another chat template; null: the one of {@code path}
 */
public record ModelSource(Path path, @Nullable Path tokenizer, @Nullable Path chatTemplate) {
    public static ModelSource of(Path path) {
        return new ModelSource(path, null, null);
    }

    @Override
    public String toString() {
        return path
                + (tokenizer == null ? "" : " with " + tokenizer)
                + (chatTemplate == null ? "" : " with " + chatTemplate);
    }
}
