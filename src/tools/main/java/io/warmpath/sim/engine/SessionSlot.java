package io.warmpath.sim.engine;

import io.warmpath.sim.cache.KvCache;
import org.jspecify.annotations.Nullable;

/**
 * The KV of a streaming session: its turns one after the other start from it, without a look into
 * the tree. Empty until a first turn has ended. The engine's thread only.
 */
public final class SessionSlot {
    private KvCache.@Nullable Lease lease;
    private int length;

    /** The lease that the next turn resumes; null when it has to start from the tree. */
    KvCache.@Nullable Lease lease() {
        return lease != null && lease.holds() ? lease : null;
    }

    /** Tokens whose KV it has. */
    int length() {
        return length;
    }

    /** A turn has ended; its KV waits here for the next one. */
    void keep(KvCache.Lease ended, int tokens) {
        ended.park(tokens);
        lease = ended;
        length = tokens;
    }

    /** Its lease was, or is to be, released by the caller. */
    void empty() {
        lease = null;
        length = 0;
    }
}
