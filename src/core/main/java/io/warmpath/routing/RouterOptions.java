package io.warmpath.routing;

import io.warmpath.routing.rates.Bounds;
import io.warmpath.routing.rates.LatencyPriors;

/**
 * How to choose.
 *
 * @param mode which router
 * @param cost what costs are made of in the modes that compare them
 * @param weights of the cost in blocks
 * @param latency what the cost in milliseconds starts from
 * @param temperature 0 takes the lowest cost; above, softmax sampling of the normalised costs
 */
public record RouterOptions(
        RouterMode mode,
        CostKind cost,
        BlockWeights weights,
        LatencyPriors latency,
        double temperature) {
    public RouterOptions {
        Bounds.require("temperature", temperature, Double.MAX_VALUE);
    }

    /** The defaults of everything else. */
    public static RouterOptions of(RouterMode mode) {
        return new RouterOptions(
                mode, CostKind.LATENCY, BlockWeights.DEFAULT, LatencyPriors.DEFAULT, 0);
    }

    /** The cost that a decision shows: the one that decides, else that in blocks. */
    public CostKind shownCost() {
        return mode.comparesCosts() ? cost : CostKind.BLOCKS;
    }

    public RouterOptions with(RouterMode other) {
        return new RouterOptions(other, cost, weights, latency, temperature);
    }

    public RouterOptions with(BlockWeights other) {
        return new RouterOptions(mode, cost, other, latency, temperature);
    }

    public RouterOptions withTemperature(double other) {
        return new RouterOptions(mode, cost, weights, latency, other);
    }

    public RouterOptions with(CostKind kind) {
        return with(kind, latency);
    }

    public RouterOptions with(CostKind kind, LatencyPriors priors) {
        return new RouterOptions(mode, kind, weights, priors, temperature);
    }

    /**
     * These options for one request; the same object when it overrides nothing. One that says how
     * blocks count is decided by the cost that counts them.
     */
    public RouterOptions with(RouterOverrides o) {
        return o.equals(RouterOverrides.NONE)
                ? this
                : new RouterOptions(
                        mode,
                        o.asksForBlocks() ? CostKind.BLOCKS : cost,
                        o.apply(weights),
                        latency,
                        o.temperature(temperature));
    }
}
