package io.warmpath.prefix;

/**
 * What separates the caches of equal token ids: adapter name and cache salt. Empty means absent.
 * Enters the hash seed: {@code 1337 + xxh3(lora, 0) + xxh3(salt, 1)} (Dynamo's rule).
 */
public record PrefixSpace(String lora, String salt) {
    public static final PrefixSpace NONE = new PrefixSpace("", "");
}
