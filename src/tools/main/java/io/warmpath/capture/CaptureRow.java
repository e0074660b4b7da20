package io.warmpath.capture;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What one request shows. Counts are prompt tokens.
 *
 * @param rank the data-parallel rank that served it, -1 when nothing in the recording tells; then
 *     the best fitting rank is compared
 * @param predicted cached tokens by the index when the request began
 * @param tiers of these, cumulative over gpu, host, disk, external
 * @param reported cached tokens by the engine, or derived; meaningless when skipped
 * @param derived the engine reports none: complete blocks minus those it stored for the request
 * @param tiersAgree the engine's own split by tier is the predicted one, or it gives none
 * @param cause of a difference
 * @param skipped why nothing can be compared
 */
public record CaptureRow(
        String id,
        String step,
        int rank,
        int promptTokens,
        int predicted,
        int[] tiers,
        int reported,
        boolean derived,
        boolean tiersAgree,
        @Nullable Cause cause,
        Optional<String> skipped) {
    public boolean comparable() {
        return skipped.isEmpty();
    }

    public boolean equal() {
        return comparable() && predicted == reported;
    }
}
