package io.warmpath.pool;

import java.util.List;

/**
 * How one engine, in one version and one parallel layout, cuts a prompt into pages and names their
 * parts in the pool. Immutable; equal recipes name equal pages alike. Pages are named by {@value
 * #DIGEST_BYTES} bytes each, chained from the first, so a digest stands for all that lies before it
 * too.
 */
public sealed interface PageRecipe permits SglangPages, VllmPages, LmcacheChunks {
    int DIGEST_BYTES = 32;

    /** Tokens of a page. */
    int pageSize();

    /** Tokens of the engine's blocks; a page is a whole number of them. */
    default int blockSize() {
        return pageSize();
    }

    /** Parts of one page: it can be fetched only when the pool holds all of them. */
    int keysPerPage();

    /**
     * Digests of all complete pages, one behind the other. O(tokens), a pass of SHA-256.
     *
     * @param sha who makes SGLang's chain; vLLM's is made here
     */
    byte[] digests(PoolQuestion question, PageDigests sha);

    /** Adds the {@link #keysPerPage} keys of one page. */
    void keys(byte[] digests, int page, List<String> into);

    /** For people: engine, version, layout. */
    String description();
}
