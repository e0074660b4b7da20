package io.warmpath.lab.workload;

import static io.warmpath.plot.Plain.plain;

import java.util.List;

/**
 * What a gateway has recorded, as a workload, and what it says of itself.
 *
 * @param workload at the recorded rate
 * @param engines that there were at most, each rank for itself
 * @param hitRate cached tokens of all prompt tokens, as engines reported; of the requests that came
 *     after the first quarter of the time, as in results; NaN: none reported
 * @param notes what a user should know of the file, a line each
 */
public record Recorded(Workload workload, int engines, double hitRate, List<String> notes) {
    public Recorded {
        notes = List.copyOf(notes);
    }

    /** In one line. */
    public String summary() {
        return plain(
                "recorded: %d requests in %.0f s, %d engines, blocks of %d tokens, hit rate %s",
                workload.size(),
                workload.spanMillis() / 1000,
                engines,
                workload.blockTokens(),
                Double.isNaN(hitRate) ? "not reported" : plain("%.3f", hitRate));
    }
}
