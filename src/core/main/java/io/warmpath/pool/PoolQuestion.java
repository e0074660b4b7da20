package io.warmpath.pool;

import org.jspecify.annotations.Nullable;

/**
 * One prompt, as the engine names its pages.
 *
 * @param tokens ids, u32 in an int; only the first {@code length} count; not copied
 * @param extraKey what the engine separates caches by besides the tokens, such as the name of a
 *     LoRA adapter; null is absent, which is not the same as empty
 * @param cacheSalt the request's; null is absent
 */
public record PoolQuestion(
        int[] tokens, int length, @Nullable String extraKey, @Nullable String cacheSalt) {
    public PoolQuestion {
        if (length < 0 || length > tokens.length) {
            throw new IllegalArgumentException("length " + length + " of " + tokens.length);
        }
    }

    public PoolQuestion(int[] tokens) {
        this(tokens, tokens.length, null, null);
    }
}
