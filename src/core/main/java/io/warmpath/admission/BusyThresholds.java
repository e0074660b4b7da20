package io.warmpath.admission;

import io.warmpath.fleet.Worker;
import io.warmpath.load.WorkerLoad;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * Above which load a rank gets no request at all; any one that is set suffices. Immutable.
 *
 * @param decodeBlocks fraction of the rank's KV blocks, 0..1; without effect where their number is
 *     not known
 * @param prefillTokens booked prompt tokens
 * @param prefillFraction of the prompt tokens that the engine takes per step
 */
public record BusyThresholds(
        OptionalDouble decodeBlocks, OptionalLong prefillTokens, OptionalDouble prefillFraction) {
    public static final BusyThresholds NONE =
            new BusyThresholds(
                    OptionalDouble.empty(), OptionalLong.empty(), OptionalDouble.empty());

    public BusyThresholds {
        if (decodeBlocks.isPresent()
                && !(decodeBlocks.getAsDouble() >= 0 && decodeBlocks.getAsDouble() <= 1)) {
            throw new IllegalArgumentException(
                    "active_decode_blocks_threshold must be a number from 0 to 1");
        }
        if (prefillTokens.isPresent() && prefillTokens.getAsLong() < 0) {
            throw new IllegalArgumentException(
                    "active_prefill_tokens_threshold must be a whole number of 0 or more");
        }
        if (prefillFraction.isPresent()
                && !(prefillFraction.getAsDouble() >= 0
                        && prefillFraction.getAsDouble() <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    "active_prefill_tokens_threshold_frac must be a number of 0 or more");
        }
    }

    boolean none() {
        return decodeBlocks.isEmpty() && prefillTokens.isEmpty() && prefillFraction.isEmpty();
    }

    boolean exceeded(Worker worker, WorkerLoad load, int defaultBatch) {
        long blocks = worker.capacity().kvBlocks();
        if (decodeBlocks.isPresent()
                && blocks > 0
                && load.blocks() > decodeBlocks.getAsDouble() * blocks) {
            return true;
        }
        if (prefillTokens.isPresent() && load.prefillTokens() > prefillTokens.getAsLong()) {
            return true;
        }
        int batchedTokens = worker.capacity().batchedTokens();
        return prefillFraction.isPresent()
                && load.prefillTokens()
                        > prefillFraction.getAsDouble()
                                * (batchedTokens > 0 ? batchedTokens : defaultBatch);
    }
}
