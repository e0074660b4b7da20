package io.warmpath.routing;

import io.warmpath.fleet.Place;
import io.warmpath.routing.rates.TransferRates;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What it costs to hand the KV cache of a prompt from the worker that has computed it to the one
 * that decodes. Immutable.
 *
 * @param setupMillis before the first byte moves, from 0
 * @param bytesPerToken of KV cache, all layers together, from 0
 * @param gigabits a second, by the narrowest that both workers share; each above 0
 * @param blockWeight in the cost by blocks, of each block that is moved; from 0
 * @param from where the worker is that computes the prompt
 */
public record TransferCost(
        double setupMillis,
        double bytesPerToken,
        Map<Place.Shared, Double> gigabits,
        double blockWeight,
        Place from) {
    /** Nothing moves. */
    public static final TransferCost NONE = of(0, 0, 1, 0);

    /** Of one with rates of its own. */
    static final int HEAP_BYTES = 224;

    /** Tokens that what is set weighs beside what engines have shown. */
    private static final double PRIOR_TOKENS = 1_000;

    public TransferCost {
        gigabits = Collections.unmodifiableMap(new EnumMap<>(gigabits));
        for (Place.Shared by : Place.Shared.values()) {
            if (!(gigabits.getOrDefault(by, 0.0) > 0)) {
                throw new IllegalArgumentException(by + ": " + gigabits);
            }
        }
        if (!(setupMillis >= 0 && bytesPerToken >= 0 && blockWeight >= 0)) { // NaN, too
            throw new IllegalArgumentException(
                    setupMillis + " ms, " + bytesPerToken + " bytes a token, " + blockWeight);
        }
    }

    /** {@code gigabitsPerSecond}: between any two workers, above 0. */
    public static TransferCost of(
            double setupMillis,
            double bytesPerToken,
            double gigabitsPerSecond,
            double blockWeight) {
        Map<Place.Shared, Double> gigabits = new EnumMap<>(Place.Shared.class);
        for (Place.Shared by : Place.Shared.values()) {
            gigabits.put(by, gigabitsPerSecond);
        }
        return new TransferCost(setupMillis, bytesPerToken, gigabits, blockWeight, Place.UNKNOWN);
    }

    /** With another rate between workers that share {@code by}, or something narrower. */
    public TransferCost within(Place.Shared by, double gigabitsPerSecond) {
        Map<Place.Shared, Double> others = new EnumMap<>(gigabits);
        for (Place.Shared narrower : Place.Shared.values()) {
            if (narrower.compareTo(by) <= 0) {
                others.put(narrower, gigabitsPerSecond);
            }
        }
        return new TransferCost(setupMillis, bytesPerToken, others, blockWeight, from);
    }

    /**
     * As engines have shown it; this one is what they start from. A link of which nothing is known,
     * and for which nothing else is set, is as the wider one has shown.
     */
    TransferCost learnt(TransferRates.Known known) {
        if (known.bytes() == 0) {
            return this;
        }
        double each =
                (known.bytes() + PRIOR_TOKENS * bytesPerToken) / (known.tokens() + PRIOR_TOKENS);
        Map<Place.Shared, Double> rates = new EnumMap<>(gigabits);
        double prior = PRIOR_TOKENS * each;
        double wider = 0;
        double asWider = 0;
        for (Place.Shared by : List.of(Place.Shared.values()).reversed()) {
            double set = gigabits.getOrDefault(by, 1.0);
            double otherwise = set == wider ? asWider : set;
            TransferRates.Link link = known.link(by);
            double seconds = link.seconds() + prior * 8e-9 / otherwise;
            wider = set;
            asWider = link.bytes() == 0 ? otherwise : (link.bytes() + prior) * 8e-9 / seconds;
            rates.put(by, asWider);
        }
        return new TransferCost(setupMillis, each, rates, blockWeight, from);
    }

    /** For those that decode what is computed there. */
    TransferCost from(Place place) {
        return new TransferCost(setupMillis, bytesPerToken, gigabits, blockWeight, place);
    }

    /** It is the same, wherever the two are. */
    boolean isEven() {
        return gigabits.values().stream().distinct().count() == 1;
    }

    public double gigabitsPerSecond(Place to) {
        return gigabits.getOrDefault(from.shared(to), 1.0);
    }

    /** Of the prompt. */
    double millisPerToken(Place to) {
        return bytesPerToken * 8 / (gigabitsPerSecond(to) * 1e6);
    }

    /**
     * What a pair costs beside its workers: in milliseconds the set-up, because what moves depends
     * on what the decoding worker holds and is in its own cost.
     *
     * @param blockSize tokens per block, 0 where it is not known
     * @return in the unit of the cost
     */
    public double ofPair(CostKind kind, int promptTokens, int blockSize) {
        return kind == CostKind.LATENCY
                ? setupMillis
                : blockWeight * Math.ceilDiv(promptTokens, Math.max(1, blockSize));
    }
}
