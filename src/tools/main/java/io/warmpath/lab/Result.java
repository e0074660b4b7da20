package io.warmpath.lab;

import java.util.List;

/**
 * What one run has shown. Of the requests that came after the first quarter of the arrivals' time
 * and before its end, or of those that the workload names.
 *
 * @param requests that count
 * @param ttft time to the first token
 * @param itl time between tokens, a mean per request
 * @param e2e time to the whole answer
 * @param hitRate cached prompt tokens of all prompt tokens
 * @param imbalance prompt tokens of the engine that got most, against the mean
 * @param late requests that waited more than 5 s for their first token
 * @param perSecond requests a second
 * @param goodPerSecond of these, those that keep both {@link Limits}
 * @param endedPerSecond answers completed a second of the same time, whenever their requests came
 * @param windowSeconds that time
 * @param played requests of the whole run
 * @param running requests on each engine, means over equal parts of the arrivals' time
 * @param runningSeconds all of these parts
 * @param sent requests by engine
 */
public record Result(
        String scenario,
        String policy,
        double load,
        long seed,
        int requests,
        Spread ttft,
        Spread itl,
        Spread e2e,
        double hitRate,
        double imbalance,
        int late,
        double perSecond,
        double goodPerSecond,
        double endedPerSecond,
        double windowSeconds,
        int played,
        List<List<Double>> running,
        double runningSeconds,
        List<Integer> sent) {

    /** Part of the requests that went to this engine. */
    public double share(int engine) {
        return (double) sent.get(engine) / requests;
    }

    /** The largest of these parts. */
    public double mostShare() {
        return sent.stream().mapToInt(n -> n).max().orElse(0) / (double) requests;
    }
}
