package io.warmpath.fleet;

import java.io.IOException;
import java.util.Optional;

/**
 * A worker's own tokenizer, asked about the prompt of a client's request. Any thread but an event
 * loop: blocks up to its time-out.
 */
@FunctionalInterface
public interface EngineTokenizer {
    /** Asks nobody. */
    EngineTokenizer NONE = (worker, model, request) -> Optional.empty();

    /**
     * @param model its name on this worker
     * @param request body of a chat or a completion, as the client wrote it
     * @return the prompt's ids, u32 in an int; empty when such a worker cannot be asked about such
     *     a request
     * @throws IOException when it could not be asked or has no answer
     */
    Optional<int[]> tokens(Worker worker, String model, byte[] request) throws IOException;
}
