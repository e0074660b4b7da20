package io.warmpath.routing.rates;

/**
 * The candidates of a decision together: what a rank is taken for that has not shown anything else.
 *
 * @param utilisation their booked share of the last window: 0 is idle
 * @param requests running on each of them, a mean
 * @param prefillFactor observed time to first token against the predicted one
 * @param decodeFactor the same of decoding
 * @param hostFactor the same of loading from host memory
 * @param poolFactor the same of loading from slower tiers
 * @param evicted part of the prompt blocks to compute that some engine had computed before and that
 *     none holds any more, 0..{@link #MOST_EVICTED}
 */
public record FleetRates(
        double utilisation,
        double requests,
        double prefillFactor,
        double decodeFactor,
        double hostFactor,
        double poolFactor,
        double evicted) {
    /** Nothing was seen: as the priors say. */
    public static final FleetRates UNSEEN = new FleetRates(0, 0, 1, 1, 1, 1, 0);

    /** A fleet that has forgotten more than that of what it is asked again is as good as lost. */
    static final double MOST_EVICTED = 0.8;
}
