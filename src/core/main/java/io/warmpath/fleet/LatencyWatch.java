package io.warmpath.fleet;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds workers whose first tokens take far longer than those of their peers. A worker's figure is
 * its time to first token over the work asked for: each request counts the tokens that had to be
 * computed and a constant, so that long prompts do not look like a slow worker. Peers are the
 * others that serve the same models. Pure.
 */
final class LatencyWatch {
    /** What a request costs beside its prompt, in tokens. */
    static final int REQUEST_TOKENS = 500;

    /**
     * What one worker did in a window.
     *
     * @param peers equal for workers that are compared
     * @param count first tokens
     * @param nanos their times, together
     * @param tokens that had to be computed for them
     */
    record Sample(long worker, Object peers, long count, long nanos, long tokens) {
        double perToken() {
            return nanos / (double) (tokens + count * REQUEST_TOKENS);
        }
    }

    private final HealthOptions options;

    LatencyWatch(HealthOptions options) {
        this.options = options;
    }

    /** Who is too slow, and how many times as slow as the median of the others. */
    Map<Long, Double> outliers(List<Sample> window) {
        Map<Long, Double> slow = new HashMap<>();
        if (options.latencyFactor() == 0) {
            return slow;
        }
        List<Sample> samples = new ArrayList<>(window);
        samples.removeIf(s -> s.count() < options.samples());
        for (Sample s : samples) {
            if (s.nanos() / s.count() < options.latencyFloor().toNanos()) {
                continue;
            }
            double[] others =
                    samples.stream()
                            .filter(o -> o.worker() != s.worker() && o.peers().equals(s.peers()))
                            .mapToDouble(Sample::perToken)
                            .sorted()
                            .toArray();
            if (others.length > 0) {
                double times = s.perToken() / median(others);
                if (times >= options.latencyFactor()) {
                    slow.put(s.worker(), times);
                }
            }
        }
        return slow;
    }

    private static double median(double[] sorted) {
        int half = sorted.length / 2;
        double upper = sorted[half];
        return sorted.length % 2 == 1
                ? upper
                : Arrays.stream(sorted, half - 1, half + 1).average().orElse(upper);
    }
}
