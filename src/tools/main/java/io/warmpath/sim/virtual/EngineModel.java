package io.warmpath.sim.virtual;

import java.util.List;
import java.util.Optional;

/**
 * What one step of an engine takes, and what it can hold.
 *
 * <pre>
 * step = stepMillis + max(weightsMillis, chunks, loading)
 *        + millisPerSequence * decoding sequences + millisPerHeldToken * their tokens
 * chunk of n tokens behind d = millisPerToken * n + millisPerPair * n * (d + n / 2)
 * </pre>
 *
 * @param stepMillis of every step
 * @param weightsMillis reading the weights once; computing chunks and loading cached blocks overlap
 *     with it
 * @param millisPerSequence decoding one token of one sequence
 * @param millisPerHeldToken attention of a decoding sequence to one of its tokens
 * @param millisPerToken computing one prompt token
 * @param millisPerPair attention of one prompt token to one token before it
 * @param kvTokens room for blocks
 * @param hostTokensPerSecond loading from host memory
 * @param poolTokensPerSecond loading from a pool
 * @param batchTokens of a step, decoded ones and chunks together
 * @param sequences that run at once
 */
public record EngineModel(
        String name,
        double stepMillis,
        double weightsMillis,
        double millisPerSequence,
        double millisPerHeldToken,
        double millisPerToken,
        double millisPerPair,
        int kvTokens,
        double hostTokensPerSecond,
        double poolTokensPerSecond,
        int batchTokens,
        int sequences) {
    /** An 8B model on one 80 GB device. */
    public static final EngineModel SMALL =
            new EngineModel(
                    "8b", 1.5, 6, 0.020, 52e-6, 0.032, 1.32e-6, 400_000, 150_000, 75_000, 8192,
                    256);

    /** A 70B model on four of them. */
    public static final EngineModel LARGE =
            new EngineModel(
                    "70b", 2, 11, 0.030, 33e-6, 0.071, 1.66e-6, 415_000, 244_000, 76_000, 8192,
                    256);

    public static final List<EngineModel> PRESETS = List.of(SMALL, LARGE);

    public static Optional<EngineModel> preset(String name) {
        return PRESETS.stream().filter(m -> m.name.equals(name)).findFirst();
    }

    /** The same with another price of fetching from a pool. */
    public EngineModel withPoolRate(double tokensPerSecond) {
        return new EngineModel(
                name,
                stepMillis,
                weightsMillis,
                millisPerSequence,
                millisPerHeldToken,
                millisPerToken,
                millisPerPair,
                kvTokens,
                hostTokensPerSecond,
                tokensPerSecond,
                batchTokens,
                sequences);
    }

    public double chunkMillis(double tokens, double behind) {
        return millisPerToken * tokens + millisPerPair * tokens * (behind + tokens / 2);
    }

    /** What decoding adds to a step. */
    public double decodeMillis(double sequences, double heldTokens) {
        return millisPerSequence * sequences + millisPerHeldToken * heldTokens;
    }
}
