package io.warmpath.routing.rates;

/**
 * How fast a worker is taken to be until its own answers say otherwise: one step of an engine takes
 * {@code stepMillis + decodeMillisPerRequest * requests + decodeMillisPerToken * tokens held}, and
 * prefill of n tokens behind d cached ones {@code prefillMillisPerToken * n + prefillMillisPerPair
 * * n * (d + n / 2)}.
 *
 * @param stepMillis of a step with one short request
 * @param decodeMillisPerRequest what each running request adds to a step
 * @param decodeMillisPerToken what each token held by running requests adds to a step
 * @param prefillMillisPerToken of a token's own computation
 * @param prefillMillisPerPair of its attention to one token before it
 * @param hostTokensPerSecond how fast cached tokens come from host memory
 * @param poolTokensPerSecond how fast they come from disk or a pool
 * @param workPrice how much dearer work becomes with the fleet's load and with what it evicts; 0:
 *     not at all
 * @param outputTokens length of an answer, until some were seen
 */
public record LatencyPriors(
        double stepMillis,
        double decodeMillisPerRequest,
        double decodeMillisPerToken,
        double prefillMillisPerToken,
        double prefillMillisPerPair,
        double hostTokensPerSecond,
        double poolTokensPerSecond,
        double workPrice,
        double outputTokens) {
    /** An 8B model on one 80 GB device. */
    public static final LatencyPriors DEFAULT =
            new LatencyPriors(7.5, 0.020, 52e-6, 0.032, 1.32e-6, 150_000, 75_000, 1, 256);

    public LatencyPriors {
        Bounds.require("stepMillis", stepMillis, Double.MAX_VALUE);
        Bounds.require("decodeMillisPerRequest", decodeMillisPerRequest, Double.MAX_VALUE);
        Bounds.require("decodeMillisPerToken", decodeMillisPerToken, Double.MAX_VALUE);
        Bounds.require("prefillMillisPerToken", prefillMillisPerToken, Double.MAX_VALUE);
        Bounds.require("prefillMillisPerPair", prefillMillisPerPair, Double.MAX_VALUE);
        Bounds.require("workPrice", workPrice, Double.MAX_VALUE);
        Bounds.require("outputTokens", outputTokens, Double.MAX_VALUE);
        if (!(hostTokensPerSecond > 0 && poolTokensPerSecond > 0)) {
            throw new IllegalArgumentException("load rates must be above 0");
        }
    }

    public double prefillMillis(double tokens, double cachedBefore) {
        return prefillMillisPerToken * tokens
                + prefillMillisPerPair * tokens * (cachedBefore + tokens / 2);
    }

    double hostMillis(double tokens) {
        return 1000 * tokens / hostTokensPerSecond;
    }

    double poolMillis(double tokens) {
        return 1000 * tokens / poolTokensPerSecond;
    }

    /** One step beside these requests. */
    public double stepMillis(double requests, double tokensHeld) {
        return stepMillis + growthMillis(requests, tokensHeld);
    }

    /** By how much these requests lengthen a step. */
    public double growthMillis(double requests, double tokensHeld) {
        return decodeMillisPerRequest * requests + decodeMillisPerToken * tokensHeld;
    }

    /** A fleet that is booked for more of its time is as good as full. */
    public static final double MOST_UTILISATION = 0.85;

    /**
     * @param booked part of the fleet's time
     * @return the same, at most {@link #MOST_UTILISATION}
     */
    public static double bounded(double booked) {
        return Math.min(MOST_UTILISATION, booked);
    }

    /**
     * Worth of work against waiting: what others lose by it, because they wait for it and because
     * what it leaves in the cache evicts what some of them come back for.
     *
     * @param utilisation as {@link #bounded}
     * @param evicted as {@link FleetRates#evicted}
     */
    public double price(double utilisation, double evicted) {
        return 1 + workPrice * (utilisation / (1 - utilisation) + evicted / (1 - evicted));
    }
}
