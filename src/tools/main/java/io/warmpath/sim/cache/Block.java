package io.warmpath.sim.cache;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One node of the cache's tree: a full block of tokens after the blocks of its ancestors. Found by
 * token content, so the tree cannot confuse two prompts whatever the hash does. Owned by one {@link
 * KvCache}; its thread only.
 */
final class Block {
    /** A block's tokens as a map key. */
    record Content(int[] tokens) {
        @Override
        public boolean equals(@Nullable Object o) {
            return o instanceof Content c && Arrays.equals(tokens, c.tokens);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(tokens);
        }
    }

    final @Nullable Block parent;
    final Content content;
    final byte[] digest;
    final CacheSpace space;
    final @Nullable String sessionId;
    final int depth;
    final long serial;
    final Map<Content, Block> children = new HashMap<>(2);

    boolean gpu;
    boolean host;

    /** A copy to the host is under way; its host block is already taken. */
    boolean copying;

    /** Running requests and copies that need the GPU block; never more than the parent's. */
    int refs;

    /** Loads from the host that need the host block. */
    int hostRefs;

    int gpuChildren;
    int hostChildren;
    long lastUse;

    /** Of the most important request that has used it; higher is kept longer. */
    int priority;

    /** Means something while it is pinned only; nanoseconds. */
    long pinnedUntil;

    /** What a hit sets that anew to. */
    long pinNanos;

    /** The one session whose requests have used it; null once another request has, too. */
    @Nullable String owner;

    Block(
            @Nullable Block parent,
            Content content,
            byte[] digest,
            CacheSpace space,
            @Nullable String sessionId,
            long serial) {
        this.parent = parent;
        this.content = content;
        this.digest = digest;
        this.space = space;
        this.sessionId = sessionId;
        this.owner = sessionId;
        this.depth = parent == null ? 0 : parent.depth + 1;
        this.serial = serial;
    }

    /** The start of a space: holds no tokens, takes no memory. */
    static Block root(CacheSpace space) {
        return new Block(null, new Content(new int[0]), new byte[0], space, null, -1);
    }

    void usedBy(@Nullable String session) {
        if (!Objects.equals(owner, session)) {
            owner = null;
        }
    }

    boolean isRoot() {
        return parent == null;
    }

    /** Digest of the block before this one; null for a prompt's first block. */
    byte @Nullable [] parentDigest() {
        return parent == null || parent.isRoot() ? null : parent.digest;
    }
}
