package io.warmpath.pool;

/**
 * SHA-256 over the pages of a prompt: {@code digest[i] = sha256(digest[i-1] || ids of page i, u32
 * little-endian)}. Any thread. O(tokens), and one page after the other: a page needs the digest
 * before it.
 */
public interface PageDigests {
    /**
     * @param tokens only the first {@code length} count
     * @param bigram each element is a token and the one behind it, both hashed
     * @param seed what the first page is chained to: nothing, or 32 bytes
     * @return 32 bytes for each complete page
     */
    byte[] chain(int[] tokens, int length, int pageSize, boolean bigram, byte[] seed);

    /** Complete pages of a prompt. */
    static int pages(int length, int pageSize, boolean bigram) {
        return Math.max(0, bigram ? length - 1 : length) / pageSize;
    }
}
