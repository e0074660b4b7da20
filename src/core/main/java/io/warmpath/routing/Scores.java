package io.warmpath.routing;

import io.warmpath.fleet.Candidate;
import io.warmpath.load.PotentialBlocks;
import io.warmpath.routing.rates.Pace;
import io.warmpath.routing.rates.RateState;
import io.warmpath.routing.rates.Unheard;
import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/**
 * The costs of one decision's candidates and, when they were asked for, the terms of each.
 * Immutable. Numbers lie in flat arrays, candidate by candidate.
 */
public final class Scores {
    /** Nothing was compared. */
    public static final Scores NONE =
            new Scores(
                    List.of(),
                    List.of(),
                    new double[0],
                    new double[0],
                    List.of(),
                    PotentialBlocks.ALL_NEW,
                    null,
                    null,
                    Unheard.NONE);

    private final List<Candidate> candidates;
    private final List<String> names;
    private final double[] costs;
    private final double @Nullable [] terms;
    private final List<Score> scores;
    private final PotentialBlocks potential;
    private final @Nullable Pace pace;
    private final @Nullable OtherCosts other;
    private final Unheard unheard;

    Scores(
            List<Candidate> candidates,
            List<String> names,
            double[] costs,
            double @Nullable [] terms,
            List<Score> scores,
            PotentialBlocks potential,
            @Nullable Pace pace,
            @Nullable OtherCosts other,
            Unheard unheard) {
        this.candidates = candidates;
        this.names = names;
        this.costs = costs;
        this.terms = terms;
        this.scores = scores;
        this.potential = potential;
        this.pace = pace;
        this.other = other;
        this.unheard = unheard;
    }

    public int size() {
        return costs.length;
    }

    /**
     * The same for keeping: with what is told of the candidates and, where there are terms, what a
     * decision is made from again.
     */
    Scores kept() {
        return new Scores(
                candidates,
                names,
                costs,
                terms,
                List.of(),
                detailed() ? potential : PotentialBlocks.ALL_NEW,
                pace,
                other,
                unheard);
    }

    /** Heap that only these take, at most. */
    long heapBytes() {
        long numbers = (long) costs.length + (terms == null ? 0 : terms.length);
        long others = other == null ? 0 : 64 + 8L * costs.length;
        long speeds = pace == null ? 0 : 120 + (long) RateState.HEAP_BYTES * costs.length;
        return 112 + 8 * numbers + others + speeds + (detailed() ? potential.heapBytes() : 0);
    }

    public Candidate candidate(int i) {
        return candidates.get(i);
    }

    public double cost(int i) {
        return costs[i];
    }

    /** Every candidate's terms are there. */
    public boolean detailed() {
        return terms != null;
    }

    /** Names of the terms; facts first, the cost last. */
    public List<String> names() {
        return names;
    }

    /** The {@code i}-th candidate's terms in the order of their names; empty unless detailed. */
    public List<Double> terms(int i) {
        double[] all = terms;
        return all == null ? List.of() : new Part(all, i * names.size(), names.size());
    }

    /** One score per candidate; empty unless detailed, and of decisions that are kept. */
    public List<Score> list() {
        return scores;
    }

    /** What the request would have added where, as the costs saw it. */
    public PotentialBlocks potential() {
        return potential;
    }

    /** The speeds that were seen; null unless detailed, and where none are kept. */
    public @Nullable Pace pace() {
        return pace;
    }

    /**
     * The cost that did not decide; null unless detailed, in modes that compare no costs, and where
     * it is the one in milliseconds and no speeds are kept.
     */
    public @Nullable OtherCosts other() {
        return other;
    }

    /** What other gateways may have sent, where the costs count it. */
    public Unheard unheard() {
        return unheard;
    }

    private static final class Part extends AbstractList<Double> implements RandomAccess {
        private final double[] all;
        private final int from;
        private final int size;

        Part(double[] all, int from, int size) {
            this.all = all;
            this.from = from;
            this.size = size;
        }

        @Override
        public Double get(int i) {
            return all[from + java.util.Objects.checkIndex(i, size)];
        }

        @Override
        public int size() {
            return size;
        }
    }
}
