package io.warmpath.sim.demo;

import java.time.Duration;
import java.util.Comparator;

/**
 * One turn as it went.
 *
 * @param worker as the gateway names it
 * @param gpuBlocks matched blocks on the GPU
 * @param hostBlocks matched blocks after those, in host memory
 * @param poolBlocks blocks of the pool that the gateway counted
 * @param predictedTokens cached tokens the gateway expected, -1 when it did not say
 * @param reportedTokens cached tokens the engine reported
 * @param sent when the request was sent, in {@link System#nanoTime}
 * @param took from then to the end of the answer
 */
record Played(
        DemoWorkload.Turn turn,
        String worker,
        int promptTokens,
        int gpuBlocks,
        int hostBlocks,
        int poolBlocks,
        int predictedTokens,
        int reportedTokens,
        long sent,
        Duration timeToFirstToken,
        Duration took) {
    static final Comparator<Played> BY_TIME = Comparator.comparingLong(Played::sent);

    boolean asPredicted() {
        return predictedTokens == reportedTokens;
    }

    /** Some of the time between request and first token was the same for both. */
    boolean metBeforeFirstToken(Played other) {
        return sent <= other.sent + other.timeToFirstToken.toNanos()
                && other.sent <= sent + timeToFirstToken.toNanos();
    }
}
