package io.warmpath.routing;

import java.util.Arrays;

/**
 * Takes the work that other gateways have sent, and this one has not heard of, to lie where there
 * is least to do. It fills the least busy candidates up to one level, so they cost the same for a
 * request that none of them has a better cache for, and each gateway begins at another of them. One
 * per decision, one thread.
 */
final class UnheardWork {
    private final double[] loads;
    private final double[] rests;

    UnheardWork(int candidates) {
        loads = new double[candidates];
        rests = new double[candidates];
    }

    /** Notes what the candidate's cost is made of. */
    void read(int candidate, Facts facts) {
        loads[candidate] = facts.loadMillis;
        rests[candidate] = facts.restMillis;
    }

    /**
     * Replaces the costs by those with that work.
     *
     * @param millis of work in all, above 0
     * @return the level in milliseconds: what lies below it is filled up to it
     */
    double addTo(double[] costs, double millis) {
        double level = level(loads.clone(), millis);
        for (int i = 0; i < costs.length; i++) {
            costs[i] = Math.max(0, Math.max(loads[i], level) + rests[i]);
        }
        return level;
    }

    /** What the candidate gets of it. */
    double added(int candidate, double level) {
        return Math.max(0, level - loads[candidate]);
    }

    /**
     * @param loads at least one; sorted here
     * @return the level below which so much work has room
     */
    private static double level(double[] loads, double millis) {
        Arrays.sort(loads);
        double sum = millis;
        int filled = 0;
        do {
            sum += loads[filled++];
        } while (filled < loads.length && sum / filled > loads[filled]);
        return sum / filled;
    }
}
