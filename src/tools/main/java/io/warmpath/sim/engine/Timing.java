package io.warmpath.sim.engine;

import java.time.Duration;

/**
 * How long the simulated hardware takes.
 *
 * @param prefillTokensPerSecond prompt tokens computed per second, by all prompts of a step
 * @param hostLoadTokensPerSecond tokens moved per second between GPU and host, each way
 * @param interToken time between two tokens of one answer
 * @param speed everything above happens this many times faster
 */
public record Timing(
        double prefillTokensPerSecond,
        double hostLoadTokensPerSecond,
        Duration interToken,
        double speed) {
    public Timing {
        if (!(prefillTokensPerSecond > 0) || !(hostLoadTokensPerSecond > 0) || !(speed > 0)) {
            throw new IllegalArgumentException("rates and speed must be above 0");
        }
        if (interToken.isNegative()) {
            throw new IllegalArgumentException("time between tokens must not be negative");
        }
    }

    /** The same hardware at another pace. {@code times}: as fast; above 0. */
    public Timing times(double times) {
        return new Timing(
                prefillTokensPerSecond, hostLoadTokensPerSecond, interToken, speed * times);
    }

    /** Loading goes on beside computing, layer by layer. */
    long prefillNanos(int computedTokens, int loadedTokens) {
        double seconds =
                Math.max(
                        computedTokens / prefillTokensPerSecond,
                        loadedTokens / hostLoadTokensPerSecond);
        return (long) (seconds * 1e9 / speed);
    }

    long copyNanos(int tokens) {
        return (long) (tokens / hostLoadTokensPerSecond * 1e9 / speed);
    }

    long interTokenNanos() {
        return (long) (interToken.toNanos() / speed);
    }
}
