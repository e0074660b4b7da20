package io.warmpath.prefix;

/**
 * Whose cache holds how much of this prompt?
 *
 * @param tokens token ids, u32 in an int; only the first {@code length} count; not copied
 * @param blockSize tokens per block, as the engines use it
 */
public record PrefixQuery(int[] tokens, int length, int blockSize, PrefixSpace space) {
    public PrefixQuery {
        if (length < 0 || length > tokens.length || blockSize <= 0) {
            throw new IllegalArgumentException(
                    "length " + length + " of " + tokens.length + ", block " + blockSize);
        }
    }

    /** Complete blocks of the prompt. */
    public int blocks() {
        return length / blockSize;
    }
}
