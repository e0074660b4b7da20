package io.warmpath.tokens;

import java.nio.file.Path;

/** Reads a model's tokenizer files. Any thread. */
@FunctionalInterface
public interface ModelLoader {
    /**
     * @param path a {@code tokenizer.json}, or the directory that holds it
     */
    LoadedModel load(Path path) throws TokenizerLoadException;
}
