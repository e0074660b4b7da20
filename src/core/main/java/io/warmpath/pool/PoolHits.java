package io.warmpath.pool;

import java.util.Arrays;

/**
 * Which pages of one prompt the pool holds. Immutable. Positions are counted in pages of {@link
 * #pageSize} tokens, from the start of the prompt.
 */
public final class PoolHits {
    private final int pageSize;
    private final int pages;
    private final int[] bounds;
    private final int keysAsked;
    private final int pagesFromCache;

    /**
     * @param pages complete pages of the prompt
     * @param bounds half-open ranges: first, one behind the last, first, ...; ascending, not
     *     touching
     * @param keysAsked of the pool's master, for this answer
     * @param pagesFromCache answered without asking
     */
    public PoolHits(int pageSize, int pages, int[] bounds, int keysAsked, int pagesFromCache) {
        if (pageSize <= 0 || pages < 0 || bounds.length % 2 != 0) {
            throw new IllegalArgumentException(
                    "page size " + pageSize + ", " + pages + " pages, " + bounds.length);
        }
        for (int i = 0; i < bounds.length; i++) {
            if (bounds[i] < 0 || bounds[i] > pages || (i > 0 && bounds[i] <= bounds[i - 1])) {
                throw new IllegalArgumentException(
                        "ranges not ascending in " + pages + ": " + Arrays.toString(bounds));
            }
        }
        this.pageSize = pageSize;
        this.pages = pages;
        this.bounds = bounds.clone();
        this.keysAsked = keysAsked;
        this.pagesFromCache = pagesFromCache;
    }

    /** Tokens of a page. */
    public int pageSize() {
        return pageSize;
    }

    /** Complete pages of the prompt. */
    public int pages() {
        return pages;
    }

    /** The ranges as half-open pairs, ascending: what {@code routing.SharedHits} takes. */
    public int[] bounds() {
        return bounds.clone();
    }

    /** Pages held from the start of the prompt to the first that is not. */
    public int run() {
        return bounds.length > 0 && bounds[0] == 0 ? bounds[1] : 0;
    }

    /** Keys that the master was asked for. */
    public int keysAsked() {
        return keysAsked;
    }

    /** Pages that were known from earlier answers. */
    public int pagesFromCache() {
        return pagesFromCache;
    }

    @Override
    public String toString() {
        return Arrays.toString(bounds) + " of " + pages + " pages of " + pageSize;
    }
}
