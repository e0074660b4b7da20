package io.warmpath.sim.half;

import io.warmpath.sim.engine.Sequence;
import java.util.function.Consumer;

/** What an engine of one role does with requests. Engine's thread only. */
public interface Half {
    /**
     * @param rid for messages
     * @param promptTokens in its prompt
     * @param answer writes what the client gets
     * @param failed takes SGLang's own words for why there is no answer
     */
    HalfRequest take(
            Meeting meeting,
            String rid,
            int promptTokens,
            Sequence.Listener answer,
            Consumer<String> failed);

    /** Rooms that somebody is in. */
    int rooms();
}
