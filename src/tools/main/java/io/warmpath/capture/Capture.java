package io.warmpath.capture;

import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * One recorded run of an engine. Immutable; arrays are not copied.
 *
 * @param name file name, for messages
 * @param engine the recorded engine in words
 * @param kind its family: {@code vllm}, {@code sglang}, {@code llmd}, {@code dynmock}
 * @param blockSize tokens per block
 * @param bigrams the keys of its cache are pairs of tokens
 * @param lines what happened, in time order
 */
record Capture(
        String name, String engine, String kind, int blockSize, boolean bigrams, List<Line> lines) {
    /** One thing that happened; {@code time} is seconds since the start. */
    sealed interface Line {
        double time();
    }

    /**
     * @param prompt token ids, null when the recording has none
     * @param lora adapter that is asked, empty when it is the model itself
     * @param salt cache salt, empty when absent
     * @param extraKey true when the request separates its cache by a key that events do not show
     * @param rank data-parallel rank the client asked for
     * @param several more than one prompt, or more than one answer; null: one
     */
    record Request(
            double time,
            String id,
            String step,
            int @Nullable [] prompt,
            String lora,
            String salt,
            boolean extraKey,
            OptionalInt rank,
            @Nullable Several several)
            implements Line {}

    /**
     * @param prompts at least one
     * @param answers to each
     * @param stream the answer was one
     */
    record Several(List<int[]> prompts, int answers, boolean stream) {}

    /**
     * @param completionTokens 0 when the engine refused to run the request
     * @param cached the engine's own count of cached prompt tokens
     * @param device,host,storage the same by tier, where the engine tells
     */
    record Response(
            double time,
            String id,
            int status,
            OptionalInt promptTokens,
            OptionalInt completionTokens,
            OptionalInt cached,
            OptionalInt device,
            OptionalInt host,
            OptionalInt storage)
            implements Line {}

    /** A message of subscription socket {@code source}, all frames. */
    record Event(double time, int source, List<byte[]> frames) implements Line {}

    /** What the engine answered to a request for its whole history. */
    record History(double time, int source, List<List<byte[]>> replies) implements Line {}
}
