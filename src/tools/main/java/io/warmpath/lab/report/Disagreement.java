package io.warmpath.lab.report;

import java.util.List;
import java.util.Map;

/**
 * Two policies before the same workload: how often they chose other engines, and those requests for
 * which that made the largest difference.
 *
 * @param requests that count
 * @param elsewhere of them those that went to another engine
 * @param examples largest difference in time to the first token first
 */
public record Disagreement(
        String scenario,
        double load,
        String one,
        String other,
        int requests,
        int elsewhere,
        List<Example> examples) {
    public Disagreement {
        examples = List.copyOf(examples);
    }

    /**
     * @param number in the workload
     * @param seconds since the start, when the first of the two policies sent it
     */
    public record Example(
            int number, double seconds, int prompt, int answer, Side one, Side other) {}

    /**
     * What one policy did.
     *
     * @param cached tokens that the engine really had
     * @param reason empty when the numbers say it all
     * @param terms by name one value per engine; NaN: could not be chosen
     */
    public record Side(
            int engine,
            double ttftMillis,
            int cached,
            String reason,
            Map<String, double[]> terms) {}
}
