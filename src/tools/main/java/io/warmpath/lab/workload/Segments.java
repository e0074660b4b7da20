package io.warmpath.lab.workload;

import java.util.Arrays;

/**
 * The blocks of a growing text: a few ranges of consecutive ids, the last one open. Immutable.
 *
 * @param first id of each range
 * @param count blocks of each range
 * @param tokens of all ranges
 */
record Segments(int[] first, int[] count, int tokens) {
    static final Segments EMPTY = new Segments(new int[0], new int[0], 0);

    Segments plus(int firstId, int blocks, int blockTokens) {
        if (blocks == 0) {
            return this;
        }
        int n = first.length;
        int[] f = Arrays.copyOf(first, n + 1);
        int[] c = Arrays.copyOf(count, n + 1);
        f[n] = firstId;
        c[n] = blocks;
        return new Segments(f, c, tokens + blocks * blockTokens);
    }

    /** Ids of the first {@code blocks} blocks; those behind the ranges go on from {@code own}. */
    int[] ids(int blocks, int own) {
        int[] out = new int[blocks];
        int at = 0;
        for (int i = 0; i < first.length; i++) {
            for (int k = 0; k < count[i] && at < blocks; k++) {
                out[at++] = first[i] + k;
            }
        }
        for (int next = own; at < blocks; next++) {
            out[at++] = next;
        }
        return out;
    }
}
