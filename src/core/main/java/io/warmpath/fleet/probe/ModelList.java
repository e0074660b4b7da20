package io.warmpath.fleet.probe;

import java.io.IOException;
import java.util.SequencedMap;

/** Reads the answer to {@code GET /v1/models}. Stateless, any thread. */
@FunctionalInterface
public interface ModelList {
    /**
     * Model names in the order given, each with the name of its base where it is an adapter, else
     * with nothing. Throws {@link IOException} when the text is not such an answer.
     */
    SequencedMap<String, String> read(String body) throws IOException;
}
