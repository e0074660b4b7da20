package io.warmpath.sim.virtual;

import java.util.Arrays;

/**
 * From block id to a place, open addressing with linear probing; at most half full. One thread.
 *
 * <p>Ids are 0 or more. Removal closes the gap, so probes stay short for ever.
 */
final class IdMap {
    static final int NONE = -1;

    private int[] keys;
    private int[] values;
    private int mask;
    private int size;

    IdMap(int expected) {
        int capacity = Integer.highestOneBit(Math.max(8, expected) * 2 - 1) * 2;
        keys = new int[capacity];
        values = new int[capacity];
        mask = capacity - 1;
        Arrays.fill(keys, NONE);
    }

    int get(int key) {
        for (int at = home(key); ; at = (at + 1) & mask) {
            if (keys[at] == key) {
                return values[at];
            }
            if (keys[at] == NONE) {
                return NONE;
            }
        }
    }

    /** The key is not in it. */
    void put(int key, int value) {
        if (2 * ++size > keys.length) {
            grow();
        }
        insert(key, value);
    }

    /** The key is in it. */
    void remove(int key) {
        int at = home(key);
        while (keys[at] != key) {
            at = (at + 1) & mask;
        }
        size--;
        int gap = at;
        for (int next = (at + 1) & mask; keys[next] != NONE; next = (next + 1) & mask) {
            // It may move into the gap when its home is not between the gap and itself.
            if (((next - home(keys[next])) & mask) >= ((next - gap) & mask)) {
                keys[gap] = keys[next];
                values[gap] = values[next];
                gap = next;
            }
        }
        keys[gap] = NONE;
    }

    private void insert(int key, int value) {
        int at = home(key);
        while (keys[at] != NONE) {
            at = (at + 1) & mask;
        }
        keys[at] = key;
        values[at] = value;
    }

    private void grow() {
        int[] oldKeys = keys;
        int[] oldValues = values;
        keys = new int[2 * oldKeys.length];
        values = new int[keys.length];
        mask = keys.length - 1;
        Arrays.fill(keys, NONE);
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != NONE) {
                insert(oldKeys[i], oldValues[i]);
            }
        }
    }

    private int home(int key) {
        int h = key * 0x9e3779b9;
        return (h ^ h >>> 15) & mask;
    }
}
