package io.warmpath.lab;

import io.warmpath.lab.workload.Scenario;

/**
 * What a fleet shall keep, in milliseconds.
 *
 * @param percentile of requests that are below both limits, each for itself; one of {@link
 *     Spread#PERCENTILES}
 * @param ttft time to the first token
 * @param itl a request's mean time between tokens; requests with one token have none
 */
public record Limits(int percentile, double ttft, double itl) {
    /** 20 tokens a second, some three times as fast as people read. */
    static final double ITL_MILLIS = 50;

    /** The scenario's own for the first token, at the 95th percentile. */
    static Limits of(Scenario scenario) {
        return new Limits(95, scenario.sloMillis(), ITL_MILLIS);
    }

    /** By one request; {@code itlOf} is 0 where it has one token. */
    boolean areKept(double ttftOf, double itlOf) {
        return ttftOf < ttft && itlOf < itl;
    }

    boolean areKept(Result r) {
        return ttftIsKept(r) && itlIsKept(r);
    }

    private boolean ttftIsKept(Result r) {
        return r.ttft().percentile(percentile) < ttft;
    }

    private boolean itlIsKept(Result r) {
        return r.itl().percentile(percentile) < itl;
    }

    /** Which of them are not kept; they are not all. */
    Capacity.Bound broken(Result r) {
        if (ttftIsKept(r)) {
            return Capacity.Bound.ITL;
        }
        return itlIsKept(r) ? Capacity.Bound.TTFT : Capacity.Bound.BOTH;
    }
}
