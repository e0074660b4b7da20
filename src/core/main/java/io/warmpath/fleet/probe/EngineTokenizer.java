package io.warmpath.fleet.probe;

import io.warmpath.fleet.Worker;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A worker's own tokenizer, asked about the prompt of a client's request. Any thread but an event
 * loop: blocks up to its time-out.
 */
@FunctionalInterface
public interface EngineTokenizer {
    /** Asks nobody. */
    EngineTokenizer NONE = (worker, question) -> Optional.empty();

    /**
     * One request.
     *
     * @param model its name on the worker
     * @param request body of a chat or a completion, as the client wrote it; not changed
     * @param authorization the client's, for engines that want one; not to be logged
     */
    record Question(String model, byte[] request, @Nullable String authorization) {
        @Override
        public String toString() {
            return "a prompt of " + model;
        }
    }

    /** A worker has no tokenizer to ask. */
    final class Absent extends IOException {
        private static final long serialVersionUID = 1;

        public Absent(String message) {
            super(message);
        }
    }

    /**
     * @return the prompt's ids, u32 in an int, not to be changed; empty when such a worker cannot
     *     be asked about such a request, or refuses it
     * @throws Absent when this worker has no tokenizer to ask
     * @throws IOException when it could not be asked or has no answer
     */
    Optional<int[]> tokens(Worker worker, Question question) throws IOException;
}
