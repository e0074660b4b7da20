package io.warmpath.pool;

import java.time.Duration;

/**
 * How a pool is asked.
 *
 * @param all every page of a prompt is asked for, instead of only where its run ends
 * @param keysPerRound of one step of the search, a few milliseconds' worth at most
 * @param heldTtl how long a page that was there counts as there
 * @param missingTtl how long one that was not
 * @param cacheBytes of the cache of answers
 * @param mostUnderWay questions at the same time; more are refused
 * @param inlineTokens prompts up to this long are hashed on the caller's thread
 * @param failures in a row after which the pool is left alone
 * @param pause for which it is, the first time; doubles with each try that fails
 * @param longestPause of these
 */
public record PoolOptions(
        boolean all,
        int keysPerRound,
        Duration heldTtl,
        Duration missingTtl,
        long cacheBytes,
        int mostUnderWay,
        int inlineTokens,
        int failures,
        Duration pause,
        Duration longestPause) {
    public static final PoolOptions DEFAULTS =
            new PoolOptions(
                    false,
                    64,
                    Duration.ofSeconds(2),
                    Duration.ofMillis(500),
                    16 << 20,
                    256,
                    2048,
                    5,
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(30));

    public PoolOptions {
        if (keysPerRound < 1 || mostUnderWay < 1 || failures < 1 || inlineTokens < 0) {
            throw new IllegalArgumentException(
                    "keys per round, questions under way and failures are at least 1");
        }
        if (heldTtl.isNegative() || missingTtl.isNegative() || cacheBytes < 0) {
            throw new IllegalArgumentException("times and bytes are not negative");
        }
        if (!pause.isPositive() || longestPause.compareTo(pause) < 0) {
            throw new IllegalArgumentException("pauses are positive, the longest not the shorter");
        }
    }

    public PoolOptions withAll(boolean every) {
        return new PoolOptions(
                every,
                keysPerRound,
                heldTtl,
                missingTtl,
                cacheBytes,
                mostUnderWay,
                inlineTokens,
                failures,
                pause,
                longestPause);
    }

    public PoolOptions withTtls(Duration held, Duration missing) {
        return new PoolOptions(
                all,
                keysPerRound,
                held,
                missing,
                cacheBytes,
                mostUnderWay,
                inlineTokens,
                failures,
                pause,
                longestPause);
    }
}
