package io.warmpath.sim.cache;

import org.jspecify.annotations.Nullable;

/**
 * What separates the caches of equal token ids on an engine.
 *
 * @param salt {@code cache_salt} of the request; enters the block hashes
 * @param extraKey SGLang's {@code extra_key}; separates the cache but, as in SGLang's default event
 *     format, stays out of the event ids
 */
public record CacheSpace(@Nullable String salt, @Nullable String extraKey) {
    public static final CacheSpace NONE = new CacheSpace(null, null);
}
