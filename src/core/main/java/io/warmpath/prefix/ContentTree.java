package io.warmpath.prefix;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Prompts as a tree of their literal blocks: a node is one block behind one exact prefix. Nothing
 * is hashed into an identity: two nodes are one only when every token of every block before them,
 * and the space of each, is the same. Not thread-safe: {@link ReferencePrefixIndex} guards it.
 */
final class ContentTree {
    private final Node root = new Node(null, new Block(PrefixSpace.NONE, new int[0]));
    private long size;

    Node root() {
        return root;
    }

    /** Nodes below the root; some may only lead to one that is held. */
    long size() {
        return size;
    }

    /** The node of {@code block} behind {@code parent}, made when it is not there. */
    Node child(Node parent, Block block) {
        return parent.children.computeIfAbsent(
                block,
                b -> {
                    size++;
                    return new Node(parent, b);
                });
    }

    void hold(Residency residency) {
        residency.node.holders.computeIfAbsent(residency.slot, s -> new HashSet<>()).add(residency);
    }

    void release(Residency residency) {
        Node node = residency.node;
        Set<Residency> own = node.holders.get(residency.slot);
        if (own == null || !own.remove(residency)) {
            throw new IllegalStateException("a block was released that slot does not hold");
        }
        if (own.isEmpty()) {
            node.holders.remove(residency.slot);
        }
        if (node.holders.isEmpty()) {
            prune(node);
        }
    }

    /** Forgets the empty end of a path, upwards from {@code leaf}. */
    void prune(Node leaf) {
        Node node = leaf;
        while (node.parent != null && node.holders.isEmpty() && node.children.isEmpty()) {
            node.parent.children.remove(node.block);
            size--;
            node = node.parent;
        }
    }

    /** One block's content. Equal when space and every token are equal. */
    record Block(PrefixSpace space, int[] tokens) {
        @Override
        public boolean equals(@Nullable Object o) {
            return o instanceof Block b && space.equals(b.space) && Arrays.equals(tokens, b.tokens);
        }

        @Override
        public int hashCode() {
            return 31 * space.hashCode() + Arrays.hashCode(tokens);
        }
    }

    /** A place in the tree and who is there. */
    static final class Node {
        final @Nullable Node parent;
        final Block block;
        final Map<Block, Node> children = new HashMap<>();

        /** By slot; several residencies when a worker has several names for the same content. */
        final Map<Integer, Set<Residency>> holders = new HashMap<>();

        Node(@Nullable Node parent, Block block) {
            this.parent = parent;
            this.block = block;
        }

        /** Tiers in which {@code slot} holds this block, one bit per tier number. */
        int tiers(int slot) {
            int mask = 0;
            for (Residency r : holders.getOrDefault(slot, Set.of())) {
                mask |= r.tiers;
            }
            return mask;
        }
    }

    /** One engine hash of one slot: where it lies. Identity, not value. */
    static final class Residency {
        final int slot;
        final Node node;

        /** One bit per tier number; never 0 while it is in the tree. */
        int tiers;

        Residency(int slot, Node node) {
            this.slot = slot;
            this.node = node;
        }
    }
}
