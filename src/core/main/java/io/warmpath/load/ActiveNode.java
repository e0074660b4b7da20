package io.warmpath.load;

import org.jspecify.annotations.Nullable;

/**
 * Blocks {@code from} to {@code to} (not with it) of the prompts that share them all. Guarded by
 * the stripe's lock. Its key is the name of its first block. {@code chain} is a whole prompt's, of
 * some request that passes or passed here; it may outlive that request as long as others share
 * these blocks.
 */
final class ActiveNode {
    final long[] chain;
    int from;
    final int to;
    @Nullable ActiveNode parent;
    RankSet ranks = new RankSet();

    /** Requests that use these blocks, over all ranks. */
    int requests;

    int children;

    /** All children's keys, xor: with one child it is that child's key. */
    long childKeys;

    ActiveNode(@Nullable ActiveNode parent, long[] chain, int from, int to) {
        this.parent = parent;
        this.chain = chain;
        this.from = from;
        this.to = to;
    }

    long key() {
        return chain[from];
    }

    int length() {
        return to - from;
    }

    void adopt(long key) {
        children++;
        childKeys ^= key;
    }

    void lose(long key) {
        children--;
        childKeys ^= key;
    }

    /** Where {@code other}, which has this node's first block, parts from it: in from+1..to. */
    int end(long[] other) {
        int most = Math.min(to, other.length);
        if (chain[most - 1] == other[most - 1]) {
            return most; // names are chained: equal here, equal before
        }
        int same = from;
        int differs = most - 1;
        while (differs - same > 1) {
            int middle = (same + differs) >>> 1;
            if (chain[middle] == other[middle]) {
                same = middle;
            } else {
                differs = middle;
            }
        }
        return differs;
    }
}
