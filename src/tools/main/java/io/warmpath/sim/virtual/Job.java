package io.warmpath.sim.virtual;

import org.jspecify.annotations.Nullable;

/** One request at an engine. Fields are the engine's; the owner's part is what it was made with. */
public class Job {
    final int[] blocks;
    final int promptTokens;
    final int answerTokens;

    /** Where the cache has the named ones. */
    final int[] places;

    /** Leading blocks that the cache knows to be this job's. */
    int named;

    /** Reserved, and nothing in it yet. */
    int unfilled;

    /** Prompt tokens that need not be computed any more. */
    int done;

    /** Of them those that were cached when the job was admitted. */
    int cachedTokens;

    /** Of them those that come from host memory. */
    int loadTokens;

    /** Of them those that come from the pool. */
    int fetchTokens;

    /** Of a prompt that another engine has computed; null: it is computed here. */
    @Nullable Arrival arrival;

    int chunk;
    long endStep;

    /** What its prefill will take, as far as was known when it was submitted. */
    double estimateMillis;

    /**
     * @param blocks ids of the complete blocks of prompt and answer, as far as they can ever be
     *     asked for again
     */
    public Job(int[] blocks, int promptTokens, int answerTokens) {
        if (promptTokens < 1 || answerTokens < 1) {
            throw new IllegalArgumentException(
                    "a request has at least one token in and out, not %s and %s"
                            .formatted(promptTokens, answerTokens));
        }
        this.blocks = blocks;
        this.places = new int[blocks.length];
        this.promptTokens = promptTokens;
        this.answerTokens = answerTokens;
    }

    /** When what another engine has computed is there. */
    @FunctionalInterface
    public interface Arrival {
        /** {@code tokens}: whose KV leaves now. Returns nanoseconds of the run's time. */
        long at(int tokens);
    }

    /** Its prompt was computed by another engine; before it is submitted. */
    public final void comesBy(Arrival way) {
        arrival = way;
    }

    /** Prompt tokens that came from a cache; known from the first token on. */
    public int cachedTokens() {
        return cachedTokens;
    }
}
