package io.warmpath.admission;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * When requests wait or are refused.
 *
 * @param policies of models without their own; null: no queue
 * @param perModel in place of {@code policies}
 * @param busy thresholds of models whose own have not been set while running
 * @param batchedTokens prompt tokens per step of engines that do not tell
 * @param overlapRefresh a request that waited this long asks the index again; zero: never
 * @param overloadStatus what refused clients get: 529 or 503
 */
public record AdmissionOptions(
        @Nullable Policies policies,
        Map<String, Policies> perModel,
        BusyThresholds busy,
        int batchedTokens,
        Duration overlapRefresh,
        int overloadStatus) {
    public static final int DEFAULT_BATCHED_TOKENS = 8192;

    /** Nothing waits, nothing is refused. */
    public static final AdmissionOptions OFF =
            new AdmissionOptions(
                    null,
                    Map.of(),
                    BusyThresholds.NONE,
                    DEFAULT_BATCHED_TOKENS,
                    Duration.ofSeconds(10),
                    529);

    public AdmissionOptions {
        perModel = Map.copyOf(perModel);
        if (batchedTokens < 1 || overlapRefresh.isNegative()) {
            throw new IllegalArgumentException(
                    "batchedTokens " + batchedTokens + " or overlapRefresh " + overlapRefresh);
        }
        if (overloadStatus != 529 && overloadStatus != 503) {
            throw new IllegalArgumentException("overloadStatus must be 529 or 503");
        }
    }
}
