package io.warmpath.tokens.model;

import java.nio.file.Path;

/** Reads the files of one tokenizer. Any thread; takes as long as it takes. */
@FunctionalInterface
public interface ModelLoader {
    /**
     * @throws TokenizerLoadException naming the file and what is wrong with it
     */
    LoadedModel load(ModelSource source) throws TokenizerLoadException;

    /** As {@link #load(ModelSource)}, for a tokenizer.json or a directory with one. */
    default LoadedModel load(Path path) throws TokenizerLoadException {
        return load(ModelSource.of(path));
    }
}
