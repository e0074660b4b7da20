package io.warmpath.load;

/**
 * The blocks of one prompt by name, so that equal prefixes of running requests count once and a tie
 * finds who served a prefix last.
 *
 * <p>{@code chain[i]} names complete block {@code i} together with all blocks before it: equal
 * names, equal prefixes. Other gateways are told them where gateways talk; besides, only the file
 * of decisions shows them outside the process, and halves of them. They are 64-bit keyed hashes:
 * with ten million different blocks running, the chance that any two share a name is about 3 in a
 * million, and the harm is one block counted wrong until its request ends.
 *
 * <p>Immutable as long as nobody writes to the array, which is not copied.
 *
 * @param blockSize tokens per block, at least 1
 * @param tokens length of the prompt
 * @param chain names of the first complete blocks; empty when they are not known
 * @param shared whether blocks that other running requests use too count once
 */
public record PromptBlocks(int blockSize, int tokens, long[] chain, boolean shared) {
    private static final long[] NONE = {};
    private static final long STEP = 0x9e3779b97f4a7c15L;
    private static final long FACTOR = 0xa0761d6478bd642fL;
    private static final long CHAIN = 0xe7037ed1a0b428dbL;

    public PromptBlocks {
        if (blockSize < 1 || tokens < 0 || chain.length > tokens / blockSize) {
            throw new IllegalArgumentException(
                    tokens + " tokens in blocks of " + blockSize + ", " + chain.length + " named");
        }
    }

    /** Blocks that are shared with nobody; a block size of 0 (not known) counts in tokens. */
    public static PromptBlocks unnamed(int blockSize, int tokens) {
        return new PromptBlocks(Math.max(1, blockSize), tokens, NONE, false);
    }

    /**
     * Names every complete block. About 10 ns a block of 16 tokens.
     *
     * @param seed the process' secret and whatever else separates caches, see {@link #seed}
     */
    public static PromptBlocks of(int[] tokens, int blockSize, long seed) {
        long[] chain = new long[tokens.length / blockSize];
        long name = fold(seed ^ CHAIN, blockSize * STEP + FACTOR);
        int at = 0;
        for (int block = 0; block < chain.length; block++) {
            long sum = 0;
            long key = seed;
            int end = at + blockSize;
            // Two tokens at a time; the key of each place keeps the order significant.
            for (; at + 1 < end; at += 2, key += STEP) {
                long pair = (tokens[at] & 0xffffffffL) | (long) tokens[at + 1] << 32;
                sum += fold(pair ^ key, FACTOR);
            }
            if (at < end) {
                sum += fold((tokens[at++] & 0xffffffffL) ^ key, CHAIN);
            }
            name = fold(name ^ FACTOR, sum ^ CHAIN);
            chain[block] = name;
        }
        return new PromptBlocks(blockSize, tokens.length, chain, true);
    }

    /**
     * The same from a hash of each block; about 1 ns a block. Equal hashes of different blocks make
     * equal names: whoever can make them meet in the index can make them meet here.
     *
     * @param hashes one for each complete block
     */
    public static PromptBlocks ofHashes(long[] hashes, int tokens, int blockSize, long seed) {
        long[] chain = new long[hashes.length];
        long name = fold(seed ^ CHAIN, blockSize * STEP + FACTOR);
        for (int block = 0; block < chain.length; block++) {
            name = fold(name ^ FACTOR, fold(hashes[block] ^ seed, FACTOR) ^ CHAIN);
            chain[block] = name;
        }
        return new PromptBlocks(blockSize, tokens, chain, true);
    }

    /** Another seed for every model and salt: their caches share nothing. */
    public static long seed(long secret, String model, String salt) {
        long seed = secret;
        for (int i = 0; i < model.length(); i++) {
            seed = fold(seed ^ FACTOR, model.charAt(i) + STEP);
        }
        seed = fold(seed ^ CHAIN, STEP);
        for (int i = 0; i < salt.length(); i++) {
            seed = fold(seed ^ FACTOR, salt.charAt(i) + STEP);
        }
        return seed;
    }

    public PromptBlocks shared(boolean other) {
        return other == shared ? this : new PromptBlocks(blockSize, tokens, chain, other);
    }

    /** Names of the blocks that count once; empty when all of them are this request's own. */
    long[] sharedChain() {
        return shared ? chain : NONE;
    }

    /** Blocks the prompt occupies, the last one maybe in part. */
    public int total() {
        return Math.ceilDiv(tokens, blockSize);
    }

    private static long fold(long a, long b) {
        return (a * b) ^ Math.unsignedMultiplyHigh(a, b);
    }
}
