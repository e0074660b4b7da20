package io.warmpath.routing.rates;

import io.warmpath.routing.rates.WorkerRates.Work;

/**
 * What some requests ask of their engine, added up, as the priors predict it. Not for several
 * threads.
 */
final class WorkSum {
    private double prefillMillis;
    private double loadMillis;
    private double growthMillis;
    private double overlapMillis;
    private double promptSteps;
    private double outputSteps;

    /** One more request. */
    void add(Work work, LatencyPriors priors) {
        double out = work.outputTokens();
        double prefill = work.prefillMillis() / work.prefillFactor();
        prefillMillis += prefill;
        loadMillis += work.loadMillis();
        growthMillis += out * priors.growthMillis(1, work.promptTokens() + out / 2);
        overlapMillis += Math.min(priors.stepMillis(), prefill);
        promptSteps += out * work.promptTokens();
        outputSteps += out * out;
    }

    /** {@code part}: of the other sum. */
    void add(WorkSum other, double part) {
        prefillMillis += part * other.prefillMillis;
        loadMillis += part * other.loadMillis;
        growthMillis += part * other.growthMillis;
        overlapMillis += part * other.overlapMillis;
        promptSteps += part * other.promptSteps;
        outputSteps += part * other.outputSteps;
    }

    /** Computation of prompts, and loading of what is cached below the device's memory. */
    double promptMillis(double prefillFactor) {
        return prefillFactor * prefillMillis + loadMillis;
    }

    /** By how much the answers lengthen the steps that they are made in. */
    double growthMillis(double decodeFactor) {
        return decodeFactor * growthMillis;
    }

    /**
     * The part of the steps that is the same however many answers they serve, when as many run at
     * once as the engine has room for. A request takes its room for as many steps as its answer has
     * tokens, and a step of a full engine serves all of its room. A step that computes a prompt
     * overlaps the two.
     *
     * @param roomTokens of the engine's KV memory
     * @param unshared part of the prompts' blocks that no other running request has, 0 to 1
     */
    double stepMillis(
            LatencyPriors priors, double decodeFactor, double roomTokens, double unshared) {
        double steps = (unshared * promptSteps + outputSteps) / roomTokens;
        return decodeFactor * Math.max(0, steps * priors.stepMillis() - overlapMillis);
    }
}
