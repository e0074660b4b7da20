package io.warmpath.routing.rates;

/**
 * Observed against predicted time, in seconds of samples; newer ones count more. Immutable.
 *
 * <p>A rank is believed to differ from its fleet by what its samples say beside a prior of the
 * fleet's factor, less {@link #ALIKE}: ranks that differ by no more than chance and the mix of
 * their requests have the same factor to the last bit, so that their costs are ties. Otherwise the
 * first one to be tried on an idle fleet that is faster than its priors would be the only one known
 * to be fast, and get everything from then on.
 */
record Ratio(double observed, double predicted) {
    static final Ratio NONE = new Ratio(0, 0);

    private static final double KEPT = 0.98;
    private static final double LEAST = 0.02;
    private static final double MOST = 50;

    /**
     * Seconds of samples that the configured prior of a whole fleet weighs. Little: it is the same
     * for all, so it cannot make a router run from its own queues.
     */
    private static final double FLEET_PRIOR_SECONDS = 0.5;

    /** Part of the fleet's factor by which equal ranks may seem to differ. */
    private static final double ALIKE = 0.03;

    Ratio with(double observedSeconds, double predictedSeconds) {
        return new Ratio(KEPT * observed + observedSeconds, KEPT * predicted + predictedSeconds);
    }

    /** Of many ranks' samples taken together. */
    static double fleetFactor(double observed, double predicted) {
        return Math.clamp(
                (observed + FLEET_PRIOR_SECONDS) / (predicted + FLEET_PRIOR_SECONDS), LEAST, MOST);
    }

    /**
     * Of the rank that these samples are of.
     *
     * @param priorSeconds seconds of samples that the fleet's factor weighs
     */
    double factor(double fleet, double priorSeconds) {
        if (predicted == 0) {
            return fleet;
        }
        double own = (observed + priorSeconds * fleet) / (predicted + priorSeconds);
        double alike = ALIKE * fleet;
        if (Math.abs(own - fleet) <= alike) {
            return fleet;
        }
        return Math.clamp(own > fleet ? own - alike : own + alike, LEAST, MOST);
    }
}
