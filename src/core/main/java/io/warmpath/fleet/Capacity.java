package io.warmpath.fleet;

/**
 * How much one rank of a worker can take at once.
 *
 * @param batchedTokens prompt tokens in one step of the engine; 0 when not known
 * @param kvBlocks KV blocks on the device; 0 when not known
 * @param adapters LoRA adapters that it computes at once; 0 when not known
 */
public record Capacity(int batchedTokens, long kvBlocks, int adapters) {
    public static final Capacity UNKNOWN = new Capacity(0, 0);

    public Capacity(int batchedTokens, long kvBlocks) {
        this(batchedTokens, kvBlocks, 0);
    }

    public Capacity {
        if (batchedTokens < 0 || kvBlocks < 0 || adapters < 0) {
            throw new IllegalArgumentException(
                    "negative capacity: %s tokens, %s blocks, %s adapters"
                            .formatted(batchedTokens, kvBlocks, adapters));
        }
    }

    /** This one, and what it leaves open as {@code other} says it. */
    public Capacity or(Capacity other) {
        return new Capacity(
                batchedTokens == 0 ? other.batchedTokens : batchedTokens,
                kvBlocks == 0 ? other.kvBlocks : kvBlocks,
                adapters == 0 ? other.adapters : adapters);
    }
}
