package io.warmpath.routing;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * A term of a cost, as an enum of a {@link CostModel}: it lies in the arrays of terms where its
 * constant stands among the others.
 */
interface CostTerm {
    int ordinal();

    String name();

    /** What explanations call it. */
    default String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** {@code at}: where the terms of the candidate begin. */
    default void set(double[] terms, int at, double value) {
        terms[at + ordinal()] = value;
    }

    /** Of the terms of one candidate. */
    default double of(double[] terms) {
        return terms[ordinal()];
    }

    /** What explanations call the terms, in their order. */
    static List<String> names(CostTerm[] terms) {
        return Arrays.stream(terms).map(CostTerm::label).toList();
    }
}
