package io.warmpath.routing.modes;

import io.warmpath.fleet.Candidate;
import java.util.List;
import java.util.function.IntPredicate;

/** Draws a candidate, each with the chance that its weight gives it. Stateless; O(candidates). */
final class WeightedDraw {
    private WeightedDraw() {}

    /** {@code drawn}: a number from 0 to below 1. */
    static int draw(List<Candidate> candidates, double drawn) {
        return draw(candidates, i -> true, drawn);
    }

    /**
     * Among some of them. With equal weights it is the one at {@code floor(drawn * how many)}.
     *
     * @param among by index; at least one
     * @param drawn a number from 0 to below 1
     */
    static int draw(List<Candidate> candidates, IntPredicate among, double drawn) {
        double all = 0;
        for (int i = 0; i < candidates.size(); i++) {
            all += among.test(i) ? weight(candidates, i) : 0;
        }
        double left = drawn * all;
        int last = -1;
        for (int i = 0; i < candidates.size(); i++) {
            if (among.test(i)) {
                last = i;
                left -= weight(candidates, i);
                if (left < 0) {
                    break;
                }
            }
        }
        return last; // by rounding, something may be left behind the last one
    }

    private static double weight(List<Candidate> candidates, int i) {
        return candidates.get(i).worker().weight();
    }
}
