package io.warmpath.fleet.probe;

import java.io.IOException;
import java.util.Set;

/** Reads the answer to {@code GET /v1/models}. Stateless, any thread. */
@FunctionalInterface
public interface ModelList {
    /**
     * Model names in the order given.
     *
     * @throws IOException when the text is not such an answer
     */
    Set<String> read(String body) throws IOException;
}
