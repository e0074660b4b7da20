package io.warmpath.sim.demo;

import java.time.Duration;

/**
 * One turn as it went.
 *
 * @param worker as the gateway names it
 * @param gpuBlocks matched blocks on the GPU
 * @param hostBlocks matched blocks after those, in host memory
 * @param predictedTokens cached tokens the gateway expected, -1 when it did not say
 * @param reportedTokens cached tokens the engine reported
 */
record Played(
        Workload.Turn turn,
        String worker,
        int promptTokens,
        int gpuBlocks,
        int hostBlocks,
        int predictedTokens,
        int reportedTokens,
        Duration timeToFirstToken) {
    boolean asPredicted() {
        return predictedTokens == reportedTokens;
    }
}
