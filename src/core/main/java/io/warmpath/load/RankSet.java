package io.warmpath.load;

import java.util.Arrays;

/**
 * The ranks that use a stretch of blocks: how many requests each, and what one block of it counts.
 * Sorted by key. Guarded by the stripe's lock. A block used by two requests of a rank always counts
 * whole; one used by a single request may count less ({@link #weigh}).
 */
final class RankSet {
    private int[] keys;
    private SlotLoad[] ranks;
    private int[] counts;
    private int[] weights;
    private int size;

    RankSet() {
        this(new int[1], new SlotLoad[1], new int[1], new int[1], 0);
    }

    private RankSet(int[] keys, SlotLoad[] ranks, int[] counts, int[] weights, int size) {
        this.keys = keys;
        this.ranks = ranks;
        this.counts = counts;
        this.weights = weights;
        this.size = size;
    }

    RankSet copy() {
        return new RankSet(
                Arrays.copyOf(keys, size),
                Arrays.copyOf(ranks, size),
                Arrays.copyOf(counts, size),
                Arrays.copyOf(weights, size),
                size);
    }

    /** One more request; answers how much more one block counts on this rank. */
    int add(SlotLoad rank) {
        int at = find(rank.key);
        if (at >= 0) {
            counts[at]++;
            int more = SlotLoad.WHOLE - weights[at];
            weights[at] = SlotLoad.WHOLE;
            return more;
        }
        insert(-at - 1, rank);
        return SlotLoad.WHOLE;
    }

    /** One request less; answers the change of what one block counts, 0 or less. */
    int remove(SlotLoad rank) {
        int at = find(rank.key);
        if (at < 0) {
            throw new IllegalStateException("a rank leaves blocks that it does not use");
        }
        if (--counts[at] > 0) {
            return 0;
        }
        int weight = weights[at];
        size--;
        System.arraycopy(keys, at + 1, keys, at, size - at);
        System.arraycopy(ranks, at + 1, ranks, at, size - at);
        System.arraycopy(counts, at + 1, counts, at, size - at);
        System.arraycopy(weights, at + 1, weights, at, size - at);
        return -weight;
    }

    /** Requests of this rank. */
    int count(SlotLoad rank) {
        int at = find(rank.key);
        return at < 0 ? 0 : counts[at];
    }

    /** What a block counts from now on where one request alone uses it; answers the change. */
    int weigh(SlotLoad rank, int weight) {
        int at = find(rank.key);
        int more = weight - weights[at];
        weights[at] = weight;
        return more;
    }

    /** {@code blocks} more for every rank in use, by slot number. */
    void addTo(int[] shared, int blocks) {
        for (int i = 0; i < size; i++) {
            SlotLoad rank = ranks[i];
            if (rank.isCurrent() && rank.index < shared.length) {
                shared[rank.index] += blocks;
            }
        }
    }

    /** Whether the same requests are here as there, and every block counts the same. */
    boolean sameAs(RankSet other) {
        return size == other.size
                && Arrays.equals(keys, 0, size, other.keys, 0, size)
                && Arrays.equals(counts, 0, size, other.counts, 0, size)
                && Arrays.equals(weights, 0, size, other.weights, 0, size);
    }

    private int find(int key) {
        return Arrays.binarySearch(keys, 0, size, key);
    }

    private void insert(int at, SlotLoad rank) {
        if (size == keys.length) {
            int capacity = size * 2;
            keys = Arrays.copyOf(keys, capacity);
            ranks = Arrays.copyOf(ranks, capacity);
            counts = Arrays.copyOf(counts, capacity);
            weights = Arrays.copyOf(weights, capacity);
        }
        System.arraycopy(keys, at, keys, at + 1, size - at);
        System.arraycopy(ranks, at, ranks, at + 1, size - at);
        System.arraycopy(counts, at, counts, at + 1, size - at);
        System.arraycopy(weights, at, weights, at + 1, size - at);
        keys[at] = rank.key;
        ranks[at] = rank;
        counts[at] = 1;
        weights[at] = SlotLoad.WHOLE;
        size++;
    }
}
