package io.warmpath.routing;

/**
 * How one of the candidates was chosen.
 *
 * @param index which of them
 * @param candidates how many there were
 * @param ties how many had the best value; 1 when it was alone, 0 when nothing was compared
 * @param best the best value: lowest cost, or fewest running requests
 * @param value the chosen one's
 * @param drawn the number drawn, in 0..1; NaN when chance had no part
 * @param temperature of a sample, else 0
 * @param detail what the numbers do not say, in words; empty where they say it all
 */
public record Choice(
        Kind kind,
        int index,
        int candidates,
        int ties,
        double best,
        double value,
        double drawn,
        double temperature,
        String detail) {

    /** Rule that decided. */
    public enum Kind {
        ONLY_CANDIDATE,
        LOWEST_COST,
        /** Of those with the lowest cost the one that served this prefix last. */
        SERVED_LAST,
        /**
         * Of those with the lowest cost the one whose last turn lies furthest back, at random among
         * those that had none yet, or where their weights differ. Beside other gateways each begins
         * at another of the workers.
         */
        TIE_DRAWN,
        /** The better the likelier. */
        SAMPLED,
        RANDOM,
        NEXT_IN_TURN,
        /** Of all candidates. */
        FEWEST_REQUESTS,
        /** Of two that were drawn. */
        FEWER_OF_TWO,
        /** The longest known prefix of the prompt. */
        CACHE_HIT,
        /** Fewest requests, as no known prefix was long enough, or its worker was too busy. */
        NO_CACHE_HIT
    }

    /** The numbers say it all. */
    public Choice(
            Kind kind,
            int index,
            int candidates,
            int ties,
            double best,
            double value,
            double drawn,
            double temperature) {
        this(kind, index, candidates, ties, best, value, drawn, temperature, "");
    }

    public static Choice only() {
        return new Choice(Kind.ONLY_CANDIDATE, 0, 1, 0, 0, 0, Double.NaN, 0);
    }

    /** In words, a short phrase. */
    public String why() {
        String of = " of " + candidates;
        return switch (kind) {
            case ONLY_CANDIDATE -> "only candidate";
            case LOWEST_COST -> "lowest cost " + number(best) + of;
            case SERVED_LAST ->
                    "served this prefix last, one of "
                            + ties
                            + " with the lowest cost "
                            + number(best)
                            + of;
            case TIE_DRAWN -> "one of " + ties + " with the lowest cost " + number(best) + of;
            case SAMPLED ->
                    "sampled at temperature "
                            + temperature
                            + ", cost "
                            + number(value)
                            + " where the lowest"
                            + of
                            + " is "
                            + number(best);
            case RANDOM -> "random one" + of;
            case NEXT_IN_TURN -> "next in turn" + of;
            case FEWEST_REQUESTS -> "fewest requests, " + (long) best + detail + "," + of;
            case CACHE_HIT -> "cache hit: " + detail;
            case NO_CACHE_HIT -> "least loaded (" + (long) value + "): " + detail;
            case FEWER_OF_TWO -> "fewer requests, " + (long) value + detail + ", of two drawn" + of;
        };
    }

    private static double number(double value) {
        return Math.abs(value) < 1e15 ? Math.round(value * 10) / 10.0 : value;
    }
}
