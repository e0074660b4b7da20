package io.warmpath.routing;

/**
 * What the cost that does not decide makes of the candidates that were compared: what it would have
 * taken. Made for decisions that are explained. Immutable.
 */
public final class OtherCosts {
    private final CostKind kind;
    private final double[] costs;
    private final int lowest;
    private final int ties;

    /** {@code costs}: of at least one candidate, in their order; not copied. */
    OtherCosts(CostKind kind, double[] costs) {
        this.kind = kind;
        this.costs = costs;
        int best = 0;
        int equals = 1;
        for (int i = 1; i < costs.length; i++) {
            if (costs[i] < costs[best]) {
                best = i;
                equals = 1;
            } else if (costs[i] == costs[best]) {
                equals++;
            }
        }
        this.lowest = best;
        this.ties = equals;
    }

    public CostKind kind() {
        return kind;
    }

    public double cost(int i) {
        return costs[i];
    }

    /** The candidate of the lowest cost, the first one of several. */
    public int lowest() {
        return lowest;
    }

    /** Candidates that have the lowest cost. */
    public int ties() {
        return ties;
    }

    /** The candidate has the lowest cost here too. */
    public boolean agrees(int candidate) {
        return costs[candidate] == costs[lowest];
    }
}
