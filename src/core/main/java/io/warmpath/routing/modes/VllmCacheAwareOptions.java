package io.warmpath.routing.modes;

/**
 * When the worker that holds the longest prefix is good enough.
 *
 * @param cacheThreshold part of the prompt's complete blocks that it has to hold more of than this,
 *     0 to 1
 * @param loadFactor it has to have fewer running requests than this times the mean, at least 1
 */
public record VllmCacheAwareOptions(float cacheThreshold, double loadFactor) {
    public static final VllmCacheAwareOptions DEFAULT = new VllmCacheAwareOptions(0.3f, 1.25);

    public VllmCacheAwareOptions {
        if (!(cacheThreshold >= 0 && cacheThreshold <= 1)) {
            throw new IllegalArgumentException(
                    "cacheThreshold is " + cacheThreshold + "; it must be from 0 to 1");
        }
        if (!(loadFactor >= 1 && loadFactor <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    "loadFactor is " + loadFactor + "; it must be a number of at least 1");
        }
    }
}
