package io.warmpath.prefix;

import org.jspecify.annotations.Nullable;

/**
 * Whose cache holds how much of this prompt? Asked by its tokens, or by hashes that an index has
 * made of them: these only of the index that made them, or one that hashes alike.
 *
 * @param tokens token ids, u32 in an int; only the first {@code length} count; not copied. Empty
 *     when there are hashes
 * @param length of the prompt, in tokens
 * @param blockSize tokens per block, as the engines use it
 * @param hashes local hashes of all complete blocks, in this space; not copied
 */
public record PrefixQuery(
        int[] tokens, int length, int blockSize, PrefixSpace space, long @Nullable [] hashes) {
    private static final int[] NO_TOKENS = {};

    public PrefixQuery {
        if (length < 0
                || blockSize <= 0
                || (hashes == null
                        ? length > tokens.length
                        : hashes.length != length / blockSize)) {
            throw new IllegalArgumentException(
                    "length " + length + " of " + tokens.length + ", block " + blockSize);
        }
    }

    public PrefixQuery(int[] tokens, int length, int blockSize, PrefixSpace space) {
        this(tokens, length, blockSize, space, null);
    }

    /** By hashes, which are not copied. */
    public static PrefixQuery hashed(long[] hashes, int length, int blockSize, PrefixSpace space) {
        return new PrefixQuery(NO_TOKENS, length, blockSize, space, hashes);
    }

    /** Complete blocks of the prompt. */
    public int blocks() {
        return length / blockSize;
    }
}
