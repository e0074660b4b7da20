package io.warmpath.lab;

/**
 * What one run has shown. Of the requests that came after the first quarter of the arrivals' time
 * and before its end.
 *
 * @param requests that count
 * @param ttft time to the first token
 * @param itl time between tokens, a mean per request
 * @param e2e time to the whole answer
 * @param hitRate cached prompt tokens of all prompt tokens
 * @param imbalance prompt tokens of the engine that got most, against the mean
 * @param late requests that waited more than 5 s for their first token
 * @param perSecond requests a second
 * @param played requests of the whole run
 * @param virtualSeconds the whole run took in its own time
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
        int played,
        double virtualSeconds) {}
