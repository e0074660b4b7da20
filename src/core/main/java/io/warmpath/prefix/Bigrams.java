package io.warmpath.prefix;

/**
 * Caches whose keys are pairs of neighbouring tokens (SGLang with EAGLE), as blocks of tokens. A
 * page of p pairs is made of p + 1 tokens, the last of which is the first of the next page. It
 * becomes a block of these p + 1 ids. Two blocks are equal exactly when all pairs of their pages
 * are, so an index of tokens takes them as they are. n tokens have n - 1 pairs. Stateless.
 */
public final class Bigrams {
    private Bigrams() {}

    /** Ids of a block that stands for a page of so many pairs. */
    public static int blockSize(int pageSize) {
        return pageSize + 1;
    }

    /**
     * The blocks of the first pages, one behind the other.
     *
     * @param tokens at least {@code pages * pageSize + 1}
     */
    public static int[] blocks(int[] tokens, int pages, int pageSize) {
        int size = blockSize(pageSize);
        int[] blocks = new int[pages * size];
        for (int page = 0; page < pages; page++) {
            System.arraycopy(tokens, page * pageSize, blocks, page * size, size);
        }
        return blocks;
    }

    /** All whole pages of these tokens: what an engine holds when it has computed them. */
    public static PrefixQuery of(int[] tokens, int length, int pageSize, PrefixSpace space) {
        int[] blocks = blocks(tokens, Math.max(0, length - 1) / pageSize, pageSize);
        return new PrefixQuery(blocks, blocks.length, blockSize(pageSize), space);
    }

    /**
     * What an engine looks up of a prompt: no pair has the last token, which is computed always.
     */
    public static PrefixQuery lookUp(int[] tokens, int length, int pageSize, PrefixSpace space) {
        return of(tokens, length - 1, pageSize, space);
    }
}
