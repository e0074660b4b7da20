package io.warmpath.lab;

import io.warmpath.lab.policy.Policies;
import io.warmpath.lab.workload.Scenario;

/**
 * One run: a scenario at a load with a policy and a seed.
 *
 * @param load part of the scenario's capacity
 * @param lagMillis after which an event of an engine reaches the routers
 * @param routers that take turns and know nothing of each other
 */
public record Cell(
        Scenario scenario,
        Policies.Named policy,
        double load,
        long seed,
        double lagMillis,
        int routers) {
    public static final double LAG_MILLIS = 10;

    /** Starts at rate 1 come this many times as fast. */
    double rate() {
        return scenario.capacity() * load;
    }
}
