package io.warmpath.session;

import java.time.Duration;

/**
 * How sessions are bound.
 *
 * @param idle a session that is not heard of for so long is forgotten; zero: none is ever bound
 * @param mode what a binding is worth
 * @param placement where a session without a binding goes
 * @param max sessions that are bound at once
 */
public record AffinityOptions(Duration idle, Mode mode, Placement placement, int max) {
    public static final AffinityOptions OFF =
            new AffinityOptions(Duration.ZERO, Mode.HARD, Placement.COST, 1);

    public AffinityOptions {
        if (idle.isNegative() || max < 1) {
            throw new IllegalArgumentException("idle " + idle + ", max " + max);
        }
    }

    public boolean on() {
        return !idle.isZero();
    }

    /** What a binding is worth. */
    public enum Mode {
        /** The bound rank, also when the request has to wait for it. */
        HARD,
        /** The bound rank unless it is busy; then whoever is best, this time. */
        SOFT
    }

    /** Where a session without a binding goes. */
    public enum Placement {
        /** Where the router's rule sends it. */
        COST,
        /** Where its id says: gateways that see the same ranks agree without talking. */
        RENDEZVOUS
    }
}
