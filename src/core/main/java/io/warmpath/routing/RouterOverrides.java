package io.warmpath.routing;

import org.jspecify.annotations.Nullable;

/**
 * What one request wants otherwise than the gateway is set; null leaves a value alone.
 *
 * @param overlapScoreWeight the older name: sets {@code prefillLoadScale}, and 0 also sets {@code
 *     overlapScoreCredit} to 0; the newer names win over it
 * @param assumeKvReuse whether blocks that running requests share count once
 * @param trackPrefillTokens whether this prompt costs and books prefill
 */
public record RouterOverrides(
        @Nullable Double overlapScoreCredit,
        @Nullable Double prefillLoadScale,
        @Nullable Double overlapScoreWeight,
        @Nullable Double sharedCacheMultiplier,
        @Nullable Double routerTemperature,
        @Nullable Boolean assumeKvReuse,
        @Nullable Boolean trackPrefillTokens) {
    public static final RouterOverrides NONE =
            new RouterOverrides(null, null, null, null, null, null, null);

    /**
     * Something here is of the cost in blocks, and the cost in milliseconds does not read it: a
     * weight, whatever its value, or a switch that is off.
     */
    boolean asksForBlocks() {
        return overlapScoreCredit != null
                || prefillLoadScale != null
                || overlapScoreWeight != null
                || sharedCacheMultiplier != null
                || Boolean.FALSE.equals(assumeKvReuse)
                || Boolean.FALSE.equals(trackPrefillTokens);
    }

    /** Weights with these overrides. */
    BlockWeights apply(BlockWeights base) {
        BlockWeights w = base;
        if (overlapScoreWeight != null) {
            w = w.overlapScoreWeight(overlapScoreWeight);
        }
        if (overlapScoreCredit != null) {
            w = w.withCredit(overlapScoreCredit);
        }
        if (prefillLoadScale != null) {
            w = w.withPrefillLoadScale(prefillLoadScale);
        }
        if (sharedCacheMultiplier != null) {
            w = w.withShared(sharedCacheMultiplier, w.sharedRule());
        }
        if (trackPrefillTokens != null) {
            w = w.withTrackPrefill(trackPrefillTokens);
        }
        return w;
    }

    double temperature(double base) {
        return routerTemperature == null ? base : routerTemperature;
    }
}
