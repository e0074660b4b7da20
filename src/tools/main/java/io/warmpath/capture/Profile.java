package io.warmpath.capture;

import io.warmpath.prefix.PrefixSpace;

/**
 * How an engine counts its cached tokens.
 *
 * @param computesLastToken the last prompt token is always computed, so of a prompt of exactly n
 *     blocks at most n-1 count
 * @param apart {@code cache_salt} and adapters separate caches
 */
record Profile(boolean computesLastToken, boolean apart) {
    /** Simulators count every block and pay no heed to salts; real engines do both properly. */
    static Profile of(String kind) {
        return switch (kind) {
            case "llmd", "dynmock" -> new Profile(false, false);
            default -> new Profile(true, true);
        };
    }

    PrefixSpace space(Capture.Request request) {
        return apart ? new PrefixSpace(request.lora(), request.salt()) : PrefixSpace.NONE;
    }

    /** Tokens that count as cached when {@code depth} blocks are there. */
    int cachedTokens(int depth, int promptTokens, int blockSize) {
        int most =
                computesLastToken
                        ? Math.max(0, promptTokens - 1) / blockSize
                        : promptTokens / blockSize;
        return Math.min(depth, most) * blockSize;
    }
}
