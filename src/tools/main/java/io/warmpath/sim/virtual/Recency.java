package io.warmpath.sim.virtual;

import java.util.Arrays;

/**
 * Places in the order of their last use: a list linked through arrays, so that nothing is allocated
 * per step. One thread; every step O(1).
 */
final class Recency {
    static final int NONE = -1;

    private int[] before;
    private int[] after;
    private int oldest = NONE;
    private int newest = NONE;

    Recency(int places) {
        before = new int[places];
        after = new int[places];
    }

    void grow(int places) {
        before = Arrays.copyOf(before, places);
        after = Arrays.copyOf(after, places);
    }

    /** {@link #NONE} when there is no place in it. */
    int oldest() {
        return oldest;
    }

    /** The place was used just now; it is not in the list. */
    void append(int place) {
        before[place] = newest;
        after[place] = NONE;
        if (newest == NONE) {
            oldest = place;
        } else {
            after[newest] = place;
        }
        newest = place;
    }

    /** The place is in the list. */
    void unlink(int place) {
        int b = before[place];
        int a = after[place];
        if (b == NONE) {
            oldest = a;
        } else {
            after[b] = a;
        }
        if (a == NONE) {
            newest = b;
        } else {
            before[a] = b;
        }
    }
}
