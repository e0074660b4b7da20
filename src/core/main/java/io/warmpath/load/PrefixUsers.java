package io.warmpath.load;

import java.util.Arrays;

/**
 * How many running requests, over all ranks, use the leading blocks of one prompt: as stretches,
 * each with fewer users than the one before. Filled once, then only read; blocks that nobody uses
 * are in no stretch.
 */
public final class PrefixUsers {
    public static final PrefixUsers NONE = new PrefixUsers(0);

    private final int blockSize;
    private int[] ends = new int[4];
    private int[] users = new int[4];
    private int size;

    PrefixUsers(int blockSize) {
        this.blockSize = blockSize;
    }

    void add(int end, int requests) {
        if (size == ends.length) {
            ends = Arrays.copyOf(ends, 2 * size);
            users = Arrays.copyOf(users, 2 * size);
        }
        ends[size] = end;
        users[size] = requests;
        size++;
    }

    /** Tokens of the blocks that are counted. */
    int blockSize() {
        return blockSize;
    }

    /** Leading blocks that somebody uses. */
    public int blocks() {
        return size == 0 ? 0 : ends[size - 1];
    }

    public int stretches() {
        return size;
    }

    /** First block behind a stretch. */
    public int end(int stretch) {
        return ends[stretch];
    }

    /** Requests that use every block of a stretch; at least one. */
    public int users(int stretch) {
        return users[stretch];
    }
}
