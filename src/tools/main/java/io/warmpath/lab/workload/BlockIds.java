package io.warmpath.lab.workload;

import java.util.Arrays;

/**
 * Numbers blocks by their name and the block before them, from 0. One thread. Open addressing, 12
 * to 24 bytes a block: a day of a busy gateway has tens of millions.
 */
final class BlockIds {
    private static final int FREE = -1;
    private static final int SPREAD = 0x9e3779b9;

    /** The parent above, the name below. */
    private long[] keys = new long[1 << 12];

    private int[] ids = filled(1 << 12);
    private int size;

    int size() {
        return size;
    }

    /** {@code parent}: -1: it is the first of its prompt. */
    int of(int parent, int name) {
        if (2 * size >= keys.length) {
            grow();
        }
        long key = (long) parent << 32 | (name & 0xffffffffL);
        int at = place(key);
        if (ids[at] == FREE) {
            keys[at] = key;
            ids[at] = size++;
        }
        return ids[at];
    }

    /** Where the key is, or belongs. */
    private int place(long key) {
        int mask = keys.length - 1;
        int hash = (int) (key ^ key >>> 32) * SPREAD;
        int at = (hash ^ hash >>> 15) & mask;
        while (ids[at] != FREE && keys[at] != key) {
            at = (at + 1) & mask;
        }
        return at;
    }

    private void grow() {
        long[] oldKeys = keys;
        int[] oldIds = ids;
        keys = new long[2 * oldKeys.length];
        ids = filled(keys.length);
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldIds[i] != FREE) {
                int at = place(oldKeys[i]);
                keys[at] = oldKeys[i];
                ids[at] = oldIds[i];
            }
        }
    }

    private static int[] filled(int length) {
        int[] of = new int[length];
        Arrays.fill(of, FREE);
        return of;
    }
}
