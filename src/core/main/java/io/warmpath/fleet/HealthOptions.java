package io.warmpath.fleet;

import java.time.Duration;

/**
 * When requests that go badly take a worker out, and how it comes back.
 *
 * @param failures failed requests that suspend a worker; each answered one takes half a failure
 *     back. 0: never
 * @param pauseMin how long it gets nothing then; doubles with each time in a row up to {@code
 *     pauseMax}
 * @param trials requests, one at a time, that must go well before it is trusted again
 * @param latencyFactor a worker whose first tokens take this many times as long as its peers' is
 *     suspended; 0: never
 * @param latencyFloor first tokens that come sooner than this on average are never too late
 * @param window first tokens are compared once per window
 * @param samples first tokens that a worker needs in a window to be compared, or compared with
 */
public record HealthOptions(
        int failures,
        Duration pauseMin,
        Duration pauseMax,
        int trials,
        double latencyFactor,
        Duration latencyFloor,
        Duration window,
        int samples) {

    public HealthOptions {
        if (failures < 0 || trials < 1 || latencyFactor < 0 || samples < 1) {
            throw new IllegalArgumentException("health options below their least values");
        }
        if (pauseMin.compareTo(pauseMax) > 0) {
            throw new IllegalArgumentException(
                    "the shortest pause " + pauseMin + " is longer than the longest, " + pauseMax);
        }
    }
}
