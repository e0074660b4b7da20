package io.warmpath.routing.modes;

import io.warmpath.fleet.Candidate;
import java.util.Arrays;
import java.util.List;

/**
 * Turns in proportion to the workers' weights, spread as evenly as they can be: whoever would have
 * come the least far with one turn more is next, and a turn takes it {@code 1 / weight} further.
 *
 * <p>Of the same candidates each has, after any number of turns, at least its share of them rounded
 * down. Who was away, or is new in its slot, is owed one turn at most: it counts as having come at
 * least as far as the first one, less a step of its own. Among the same candidates nobody is ever
 * further behind.
 *
 * <p>One thread at a time. O(candidates) per turn, 8 bytes per slot.
 */
final class Strides {
    /** By slot, how far it has come. */
    private double[] passed = new double[64];

    /** Whose turn it is; of equals the first. */
    int next(List<Candidate> candidates) {
        double first = furthest(candidates);
        int chosen = 0;
        double least = Double.POSITIVE_INFINITY;
        for (int i = 0; i < candidates.size(); i++) {
            double then = afterTurn(candidates.get(i), first);
            if (then < least) {
                least = then;
                chosen = i;
            }
        }
        return chosen;
    }

    /** The turn was taken. */
    void taken(List<Candidate> candidates, int chosen) {
        double then = afterTurn(candidates.get(chosen), furthest(candidates));
        int slot = candidates.get(chosen).slot().index();
        if (slot >= passed.length) {
            passed = Arrays.copyOf(passed, Math.max(slot + 1, 2 * passed.length));
        }
        passed[slot] = then;
    }

    private double afterTurn(Candidate candidate, double first) {
        double step = 1 / candidate.worker().weight();
        return Math.max(passed(candidate), first - step) + step;
    }

    private double furthest(List<Candidate> candidates) {
        double first = 0;
        for (int i = 0; i < candidates.size(); i++) {
            first = Math.max(first, passed(candidates.get(i)));
        }
        return first;
    }

    private double passed(Candidate candidate) {
        int slot = candidate.slot().index();
        return slot < passed.length ? passed[slot] : 0;
    }
}
