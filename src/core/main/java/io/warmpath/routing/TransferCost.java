package io.warmpath.routing;

/**
 * What it costs to hand the KV cache of a prompt from the worker that has computed it to the one
 * that decodes. Immutable.
 *
 * @param setupMillis before the first byte moves, from 0
 * @param millisPerToken of the prompt, from 0
 * @param blockWeight in the cost by blocks, of each block that is moved; from 0
 */
public record TransferCost(double setupMillis, double millisPerToken, double blockWeight) {
    /** Nothing moves. */
    public static final TransferCost NONE = new TransferCost(0, 0, 0);

    public TransferCost {
        if (!(setupMillis >= 0 && millisPerToken >= 0 && blockWeight >= 0)) { // NaN, too
            throw new IllegalArgumentException(
                    setupMillis + " ms, " + millisPerToken + " ms a token, " + blockWeight);
        }
    }

    /**
     * @param bytesPerToken of KV cache, all layers together
     * @param gigabitsPerSecond between the two workers, above 0
     */
    public static TransferCost of(
            double setupMillis, long bytesPerToken, double gigabitsPerSecond, double blockWeight) {
        double millis = bytesPerToken * 8 / (gigabitsPerSecond * 1e6);
        return new TransferCost(setupMillis, millis, blockWeight);
    }

    /**
     * What a pair costs beside its workers: in milliseconds the set-up, because what moves depends
     * on what the decoding worker holds and is in its own cost.
     *
     * @param blockSize tokens per block, 0 where it is not known
     * @return in the unit of the cost
     */
    public double ofPair(CostKind kind, int promptTokens, int blockSize) {
        return kind == CostKind.LATENCY
                ? setupMillis
                : blockWeight * Math.ceilDiv(promptTokens, Math.max(1, blockSize));
    }
}
