package io.warmpath.lab;

import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.Scenario;

/**
 * One run: a scenario at a load with a policy and a seed.
 *
 * @param load part of the scenario's capacity
 * @param lagMillis after which an event of an engine reaches the routers
 * @param replicas of the router
 * @param onePiece part of the requests whose answers come in one piece: no router sees their first
 *     token
 */
public record Cell(
        Scenario scenario,
        PolicyCatalog.Named policy,
        double load,
        long seed,
        double lagMillis,
        Replicas replicas,
        double onePiece) {
    public static final double LAG_MILLIS = 10;

    /** With routers that know nothing of each other. */
    Cell(
            Scenario scenario,
            PolicyCatalog.Named policy,
            double load,
            long seed,
            double lagMillis,
            int routers) {
        this(scenario, policy, load, seed, lagMillis, Replicas.apart(routers));
    }

    /** With all answers streamed. */
    Cell(
            Scenario scenario,
            PolicyCatalog.Named policy,
            double load,
            long seed,
            double lagMillis,
            Replicas replicas) {
        this(scenario, policy, load, seed, lagMillis, replicas, 0);
    }

    /** With one router. */
    Cell(Scenario scenario, PolicyCatalog.Named policy, double load, long seed) {
        this(scenario, policy, load, seed, LAG_MILLIS, 1);
    }

    /** The same with other answers in one piece. */
    Cell withOnePiece(double other) {
        return new Cell(scenario, policy, load, seed, lagMillis, replicas, other);
    }

    /** The same at another rate. */
    Cell withLoad(double other) {
        return new Cell(scenario, policy, other, seed, lagMillis, replicas, onePiece);
    }

    /** Starts at rate 1 come this many times as fast. */
    double rate() {
        return scenario.capacity() * load;
    }
}
