package io.warmpath.lab.policy;

import java.util.SplittableRandom;

/** The engine with the lowest value, equals at random. Used again for each choice; one thread. */
final class Lowest {
    private final SplittableRandom random;
    private double best;
    private int engine;
    private int ties;

    Lowest(SplittableRandom random) {
        this.random = random;
    }

    Lowest begin() {
        best = Double.POSITIVE_INFINITY;
        engine = -1;
        ties = 0;
        return this;
    }

    void offer(int candidate, double value) {
        if (engine < 0 || value < best) {
            best = value;
            engine = candidate;
            ties = 1;
        } else if (value == best && random.nextInt(++ties) == 0) {
            engine = candidate;
        }
    }

    /** -1 when nothing was offered. */
    int engine() {
        return engine;
    }

    double value() {
        return best;
    }
}
