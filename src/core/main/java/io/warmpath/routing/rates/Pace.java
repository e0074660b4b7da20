package io.warmpath.routing.rates;

/**
 * The speeds that one decision saw, for those who decide again. Immutable; one reference per
 * candidate. {@code states}: in the order of the candidates that were compared; not copied.
 */
@SuppressWarnings("ArrayRecordComponent") // kept by Scores, compared by nobody
public record Pace(
        long nowNanos,
        FleetRates fleet,
        double outputTokens,
        Unheard unheard,
        RateState[] states) {}
