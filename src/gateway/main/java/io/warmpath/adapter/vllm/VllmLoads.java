package io.warmpath.adapter.vllm;

import io.warmpath.fleet.probe.EngineLoad;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The load gauges of vLLM's {@code /metrics}, by the label {@code engine}, its rank. Releases that
 * have no such label have one rank. Stateless.
 */
final class VllmLoads {
    private static final Pattern GAUGE =
            Pattern.compile(
                    "^vllm:(num_requests_running|num_requests_waiting|kv_cache_usage_perc"
                            + "|gpu_cache_usage_perc)\\{([^}]*)} (\\S+)",
                    Pattern.MULTILINE);
    private static final Pattern ENGINE = Pattern.compile("(?:^|,)engine=\"(\\d{1,4})\"");

    private VllmLoads() {}

    static List<EngineLoad> read(String metrics) {
        Map<Integer, double[]> ranks = new TreeMap<>();
        Matcher m = GAUGE.matcher(metrics);
        while (m.find()) {
            Matcher engine = ENGINE.matcher(m.group(2));
            int rank = engine.find() ? Integer.parseInt(engine.group(1)) : 0;
            double[] of = ranks.computeIfAbsent(rank, r -> new double[] {0, 0, -1});
            int at =
                    switch (m.group(1)) {
                        case "num_requests_running" -> 0;
                        case "num_requests_waiting" -> 1;
                        default -> 2;
                    };
            of[at] = number(m.group(3), of[at]);
        }
        List<EngineLoad> loads = new ArrayList<>();
        ranks.forEach(
                (rank, of) ->
                        loads.add(
                                new EngineLoad(
                                        rank,
                                        Math.max(0, (int) of[0]),
                                        Math.max(0, (int) of[1]),
                                        -1,
                                        of[2])));
        return loads;
    }

    /** A gauge that is no number tells nothing. */
    private static double number(String text, double otherwise) {
        try {
            double value = Double.parseDouble(text);
            return Double.isFinite(value) ? value : otherwise;
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }
}
