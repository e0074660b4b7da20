package io.warmpath.sim.virtual;

import java.util.Arrays;

/**
 * From block id to a place, open addressing with linear probing; at most half full. One thread. Ids
 * are 0 or more. Those that follow each other lie side by side, eight to a cache line, because that
 * is how prompts ask for them. Removal closes the gap, so probes stay short for ever.
 */
final class IdMap {
    static final int NONE = -1;

    /** Ids that differ in these bits only are neighbours. */
    private static final int NEIGHBOURS = 7;

    private static final long EMPTY = -1;

    /** The id above, the place below. */
    private long[] entries;

    private int mask;
    private int size;

    IdMap(int expected) {
        allocate(Integer.highestOneBit(Math.max(16, expected) * 2 - 1) * 2);
    }

    private void allocate(int capacity) {
        entries = new long[capacity];
        mask = capacity - 1;
        Arrays.fill(entries, EMPTY);
    }

    int get(int key) {
        for (int at = home(key); ; at = (at + 1) & mask) {
            long entry = entries[at];
            if ((int) (entry >>> 32) == key) {
                return (int) entry;
            }
            if (entry == EMPTY) {
                return NONE;
            }
        }
    }

    /** The key is not in it. */
    void put(int key, int value) {
        if (2 * ++size > entries.length) {
            long[] old = entries;
            allocate(2 * old.length);
            for (long entry : old) {
                if (entry != EMPTY) {
                    insert((int) (entry >>> 32), entry);
                }
            }
        }
        insert(key, (long) key << 32 | value);
    }

    /** The key is in it. */
    void remove(int key) {
        int at = home(key);
        while ((int) (entries[at] >>> 32) != key) {
            at = (at + 1) & mask;
        }
        size--;
        int gap = at;
        for (int next = (at + 1) & mask; entries[next] != EMPTY; next = (next + 1) & mask) {
            // It may move into the gap when its home is not between the gap and itself.
            int home = home((int) (entries[next] >>> 32));
            if (((next - home) & mask) >= ((next - gap) & mask)) {
                entries[gap] = entries[next];
                gap = next;
            }
        }
        entries[gap] = EMPTY;
    }

    private void insert(int key, long entry) {
        int at = home(key);
        while (entries[at] != EMPTY) {
            at = (at + 1) & mask;
        }
        entries[at] = entry;
    }

    private int home(int key) {
        int h = (key & ~NEIGHBOURS) * 0x9e3779b9;
        return (((h ^ h >>> 15) & ~NEIGHBOURS) | (key & NEIGHBOURS)) & mask;
    }
}
