package io.warmpath.sim.cache;

import org.jspecify.annotations.Nullable;

/** How an engine names its blocks. Pure; any thread. */
public interface BlockHasher {
    /**
     * Digest of one full block.
     *
     * @param parent digest of the block before it, null for a prompt's first block
     * @param tokens exactly one block, u32 in an int
     */
    byte[] digest(byte @Nullable [] parent, int[] tokens, CacheSpace space);
}
