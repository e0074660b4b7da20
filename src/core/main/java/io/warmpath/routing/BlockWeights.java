package io.warmpath.routing;

import io.warmpath.routing.rates.Bounds;

/**
 * Weights of the cost in blocks.
 *
 * @param overlapCredit worth of a cached device block, in blocks not to be prefilled; above 1 a
 *     cache is worth more than the work it saves; 0 ignores device blocks
 * @param creditDecay how fast that worth shrinks on workers with more booked prefill than the least
 *     busy one; 0 = not at all
 * @param prefillLoadScale weight of a block to prefill against a block in decode
 * @param hostWeight worth of a block in host memory, 0..1
 * @param diskWeight the same for a block on disk or in the external tier, 0..1
 * @param sharedMultiplier the same for a block in a shared pool, 0..1
 * @param sharedRule which pool blocks count
 * @param activeRequestWeight cost of each running request, in blocks
 * @param trackPrefill false: prompts cost and book no prefill
 */
public record BlockWeights(
        double overlapCredit,
        double creditDecay,
        double prefillLoadScale,
        double hostWeight,
        double diskWeight,
        double sharedMultiplier,
        SharedRule sharedRule,
        double activeRequestWeight,
        boolean trackPrefill) {
    public static final BlockWeights DEFAULT =
            new BlockWeights(1, 0, 1, 0.75, 0.25, 0.5, SharedRule.CONTIGUOUS, 0, true);

    public BlockWeights {
        Bounds.require("overlapCredit", overlapCredit, Double.MAX_VALUE);
        Bounds.require("creditDecay", creditDecay, Double.MAX_VALUE);
        Bounds.require("prefillLoadScale", prefillLoadScale, Double.MAX_VALUE);
        Bounds.require("hostWeight", hostWeight, 1);
        Bounds.require("diskWeight", diskWeight, 1);
        Bounds.require("sharedMultiplier", sharedMultiplier, 1);
        Bounds.require("activeRequestWeight", activeRequestWeight, Double.MAX_VALUE);
    }

    /**
     * For agents' long shared prefixes: caches count double, prefill four times, requests spread.
     */
    public BlockWeights agentic() {
        return withCredit(2).withPrefillLoadScale(4).withActiveRequestWeight(64);
    }

    /** Load alone: what is cached does not count. */
    public BlockWeights loadAware() {
        return new BlockWeights(
                0, creditDecay, prefillLoadScale, 0, 0, 0, sharedRule, activeRequestWeight, true);
    }

    /** What the one weight of earlier versions meant: it scaled prefill, and 0 ignored caches. */
    public BlockWeights overlapScoreWeight(double weight) {
        BlockWeights scaled = withPrefillLoadScale(weight);
        return weight == 0 ? scaled.withCredit(0) : scaled;
    }

    public BlockWeights withCredit(double credit) {
        return new BlockWeights(
                credit,
                creditDecay,
                prefillLoadScale,
                hostWeight,
                diskWeight,
                sharedMultiplier,
                sharedRule,
                activeRequestWeight,
                trackPrefill);
    }

    public BlockWeights withPrefillLoadScale(double scale) {
        return new BlockWeights(
                overlapCredit,
                creditDecay,
                scale,
                hostWeight,
                diskWeight,
                sharedMultiplier,
                sharedRule,
                activeRequestWeight,
                trackPrefill);
    }

    public BlockWeights withCreditDecay(double decay) {
        return new BlockWeights(
                overlapCredit,
                decay,
                prefillLoadScale,
                hostWeight,
                diskWeight,
                sharedMultiplier,
                sharedRule,
                activeRequestWeight,
                trackPrefill);
    }

    public BlockWeights withActiveRequestWeight(double weight) {
        return new BlockWeights(
                overlapCredit,
                creditDecay,
                prefillLoadScale,
                hostWeight,
                diskWeight,
                sharedMultiplier,
                sharedRule,
                weight,
                trackPrefill);
    }

    public BlockWeights withShared(double multiplier, SharedRule rule) {
        return new BlockWeights(
                overlapCredit,
                creditDecay,
                prefillLoadScale,
                hostWeight,
                diskWeight,
                multiplier,
                rule,
                activeRequestWeight,
                trackPrefill);
    }

    public BlockWeights withTrackPrefill(boolean track) {
        return new BlockWeights(
                overlapCredit,
                creditDecay,
                prefillLoadScale,
                hostWeight,
                diskWeight,
                sharedMultiplier,
                sharedRule,
                activeRequestWeight,
                track);
    }
}
