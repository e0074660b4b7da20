package io.warmpath.fleet;

import io.warmpath.fleet.metadata.PoolMetadata;
import org.jspecify.annotations.Nullable;

/**
 * What an engine keeps below its device's memory. Immutable.
 *
 * @param host when blocks are copied to host memory
 * @param pool the pool it shares with others; null: none, or nothing is said of it
 */
public record Offload(HostCopies host, @Nullable PoolMetadata pool) {
    /** It keeps nothing there, or does not say. */
    public static final Offload NONE = new Offload(HostCopies.NONE, null);

    public Offload with(@Nullable PoolMetadata told) {
        return told == null ? this : new Offload(host, told);
    }
}
