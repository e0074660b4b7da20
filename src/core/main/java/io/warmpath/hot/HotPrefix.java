package io.warmpath.hot;

import io.warmpath.prefix.PrefixQuery;

/**
 * What several prompts begin with. Immutable as long as nobody writes to the prefix' array.
 *
 * @param prefix complete blocks, in the space of their prompts
 * @param hits prompts that had it, an estimate: one {@link HotPrefixes#HALF_LIFE} ago counts half
 * @param ageNanos since the last of them
 * @param text what they all begin with, cut; empty when texts are not kept
 */
public record HotPrefix(
        String model, PrefixQuery prefix, double hits, long ageNanos, String text) {}
