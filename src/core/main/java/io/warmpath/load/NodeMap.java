package io.warmpath.load;

import org.jspecify.annotations.Nullable;

/**
 * Nodes by key: open addressing, linear probing, no tombstones. Keys are hashes already. One
 * thread. Grows with the most nodes it ever held, never shrinks.
 */
final class NodeMap {
    private long[] keys = new long[16];
    private @Nullable ActiveNode[] nodes = new ActiveNode[16];
    private int size;

    @Nullable ActiveNode get(long key) {
        int mask = nodes.length - 1;
        int at = place(key, mask);
        ActiveNode node = nodes[at];
        while (node != null && keys[at] != key) {
            at = (at + 1) & mask;
            node = nodes[at];
        }
        return node;
    }

    /** Adds or replaces. */
    void put(long key, ActiveNode node) {
        if (size * 2 >= nodes.length) {
            grow();
        }
        insert(key, node);
    }

    void remove(long key) {
        int mask = nodes.length - 1;
        int hole = place(key, mask);
        while (nodes[hole] != null && keys[hole] != key) {
            hole = (hole + 1) & mask;
        }
        if (nodes[hole] == null) {
            throw new IllegalStateException("no node has this key");
        }
        size--;
        // Closes the gap: whatever follows moves up unless it is at home behind the hole.
        for (int at = (hole + 1) & mask; nodes[at] != null; at = (at + 1) & mask) {
            int home = place(keys[at], mask);
            if (((at - home) & mask) >= ((at - hole) & mask)) {
                nodes[hole] = nodes[at];
                keys[hole] = keys[at];
                hole = at;
            }
        }
        nodes[hole] = null;
    }

    int size() {
        return size;
    }

    private void insert(long key, ActiveNode node) {
        int mask = nodes.length - 1;
        int at = place(key, mask);
        while (nodes[at] != null && keys[at] != key) {
            at = (at + 1) & mask;
        }
        if (nodes[at] == null) {
            size++;
        }
        keys[at] = key;
        nodes[at] = node;
    }

    private void grow() {
        long[] oldKeys = keys;
        @Nullable ActiveNode[] oldNodes = nodes;
        keys = new long[oldKeys.length * 2];
        nodes = new ActiveNode[oldNodes.length * 2];
        size = 0;
        for (int i = 0; i < oldNodes.length; i++) {
            ActiveNode node = oldNodes[i];
            if (node != null) {
                insert(oldKeys[i], node);
            }
        }
    }

    private static int place(long key, int mask) {
        return (int) (key >>> 24) & mask;
    }
}
