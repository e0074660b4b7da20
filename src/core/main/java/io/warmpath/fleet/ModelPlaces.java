package io.warmpath.fleet;

import java.io.IOException;
import java.util.Optional;
import java.util.Set;

/**
 * Engines' word on where the tokenizers of their models lie. Any thread but an event loop: blocks
 * up to its time-out.
 */
@FunctionalInterface
public interface ModelPlaces {
    /**
     * @param models names it goes for
     * @param where a folder or a hub's name of the model, as the engine was given it
     * @param revision of a hub's model; empty: its main one
     */
    record Place(Set<String> models, String where, String revision) {
        public Place {
            models = Set.copyOf(models);
        }
    }

    /**
     * @return empty when such an engine does not say, or has been given another chat template than
     *     lies there
     * @throws IOException when it could not be asked or has no answer
     */
    Optional<Place> of(Worker worker) throws IOException;
}
