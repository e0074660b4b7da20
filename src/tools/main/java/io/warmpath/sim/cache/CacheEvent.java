package io.warmpath.sim.cache;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** One change of a rank's cache, before it is written in an engine's wire format. */
public sealed interface CacheEvent {
    /**
     * A chain of blocks now lies in {@code medium}.
     *
     * @param parent digest of the block before the first one, null at the start of a prompt
     * @param digests one per block
     * @param tokens {@code digests.size() * blockSize} token ids, u32 in an int
     * @param sessionId session of the request that stored it
     */
    record Stored(
            Medium medium,
            byte @Nullable [] parent,
            List<byte[]> digests,
            int[] tokens,
            int blockSize,
            CacheSpace space,
            @Nullable String sessionId)
            implements CacheEvent {}

    /** These blocks left {@code medium}. */
    record Removed(Medium medium, List<byte[]> digests) implements CacheEvent {}

    /** Nothing is cached any more, in any medium. */
    record Cleared() implements CacheEvent {}
}
