package io.warmpath.routing;

/**
 * How to choose.
 *
 * @param mode which router
 * @param overlapWeight weight of a block to prefill against a block being decoded; 0 ignores caches
 *     and balances load alone
 * @param temperature 0 takes the lowest cost; above, softmax sampling of the normalised costs
 * @param hostWeight what a block in host memory is worth of one on the device, 0..1
 * @param diskWeight the same for a block on disk or in the external tier, 0..1
 */
public record RouterOptions(
        RouterMode mode,
        double overlapWeight,
        double temperature,
        double hostWeight,
        double diskWeight) {
    public static final double DEFAULT_OVERLAP_WEIGHT = 1.0;
    public static final double DEFAULT_TEMPERATURE = 0.0;
    public static final double DEFAULT_HOST_WEIGHT = 0.75;
    public static final double DEFAULT_DISK_WEIGHT = 0.25;

    public RouterOptions {
        requireWithin("overlapWeight", overlapWeight, Double.MAX_VALUE);
        requireWithin("temperature", temperature, Double.MAX_VALUE);
        requireWithin("hostWeight", hostWeight, 1);
        requireWithin("diskWeight", diskWeight, 1);
    }

    /** The defaults of every weight. */
    public static RouterOptions of(RouterMode mode) {
        return new RouterOptions(
                mode,
                DEFAULT_OVERLAP_WEIGHT,
                DEFAULT_TEMPERATURE,
                DEFAULT_HOST_WEIGHT,
                DEFAULT_DISK_WEIGHT);
    }

    private static void requireWithin(String name, double value, double max) {
        if (!(value >= 0 && value <= max)) { // also refuses NaN
            throw new IllegalArgumentException(
                    name
                            + " is "
                            + value
                            + "; it must be a finite number of at least 0"
                            + (max == 1 ? " and at most 1" : ""));
        }
    }
}
