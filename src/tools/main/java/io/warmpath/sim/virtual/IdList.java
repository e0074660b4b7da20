package io.warmpath.sim.virtual;

import java.util.Arrays;

/** Block ids, used again and again. One thread. */
public final class IdList {
    private int[] ids = new int[64];
    private int size;

    public int size() {
        return size;
    }

    public int get(int i) {
        return ids[java.util.Objects.checkIndex(i, size)];
    }

    void add(int id) {
        if (size == ids.length) {
            ids = Arrays.copyOf(ids, 2 * size);
        }
        ids[size++] = id;
    }

    void clear() {
        size = 0;
    }
}
