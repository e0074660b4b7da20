package io.warmpath.prefix;

/**
 * Whose cache holds how much of this prompt?
 *
 * @param tokens token ids, u32 in an int; only the first {@code length} count; not copied
 * @param blockSize tokens per block, as the engines use it
 * @param sequenceHashes whether the answer shall name the chained hash of every complete block;
 *     costs the hashing of blocks that nobody holds
 */
public record PrefixQuery(
        int[] tokens, int length, int blockSize, PrefixSpace space, boolean sequenceHashes) {
    public PrefixQuery {
        if (length < 0 || length > tokens.length || blockSize <= 0) {
            throw new IllegalArgumentException(
                    "length " + length + " of " + tokens.length + ", block " + blockSize);
        }
    }

    /** Depths only. */
    public PrefixQuery(int[] tokens, int length, int blockSize, PrefixSpace space) {
        this(tokens, length, blockSize, space, false);
    }

    /** Complete blocks of the prompt. */
    public int blocks() {
        return length / blockSize;
    }
}
