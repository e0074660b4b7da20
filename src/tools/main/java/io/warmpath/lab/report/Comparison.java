package io.warmpath.lab.report;

import static io.warmpath.plot.Plain.plain;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Two reports, run for run: is B's mean time to the first token another one, or is the difference
 * what seeds make? Seeds are compared in pairs, by Student's t of the logarithms of their ratios,
 * at 95 %.
 */
public final class Comparison {
    private static final JsonMapper JSON = new JsonMapper();

    private Comparison() {}

    /** Throws {@link IllegalArgumentException} when the files have no run in common. */
    public static String of(Path a, Path b) throws IOException {
        Map<String, Map<Long, Double>> before = read(a);
        Map<String, Map<Long, Double>> after = read(b);
        StringBuilder out = new StringBuilder();
        out.append(
                plain(
                        "%-34s %9s %9s %8s %8s  %s%n",
                        "scenario, policy, load", "A ms", "B ms", "change", "+-", ""));
        int lines = 0;
        for (Map.Entry<String, Map<Long, Double>> e : before.entrySet()) {
            Map<Long, Double> other = after.getOrDefault(e.getKey(), Map.of());
            List<double[]> pairs = new ArrayList<>();
            e.getValue()
                    .forEach(
                            (seed, ttft) -> {
                                Double there = other.get(seed);
                                if (there != null) {
                                    pairs.add(new double[] {ttft, there});
                                }
                            });
            if (!pairs.isEmpty()) {
                out.append(line(e.getKey(), pairs));
                lines++;
            }
        }
        if (lines == 0) {
            throw new IllegalArgumentException(a + " and " + b + " have no run in common");
        }
        return out.toString();
    }

    private static String line(String name, List<double[]> pairs) {
        int n = pairs.size();
        double meanA = pairs.stream().mapToDouble(p -> p[0]).average().orElseThrow();
        double meanB = pairs.stream().mapToDouble(p -> p[1]).average().orElseThrow();
        double[] logs = pairs.stream().mapToDouble(p -> Math.log(p[1] / p[0])).toArray();
        Paired change = Paired.of(logs);
        String verdict =
                n < 2
                        ? "one seed: no spread known"
                        : change.isWithinSpread()
                                ? "within the spread"
                                : change.mean() < 0 ? "B is faster" : "B is slower";
        return plain(
                "%-34s %9.1f %9.1f %+7.1f%% %8s  %s%n",
                name,
                meanA,
                meanB,
                change.percent(),
                n < 2 ? "" : plain("%.1f%%", 100 * change.half()),
                verdict);
    }

    /** Mean time to the first token by seed, by run. */
    private static Map<String, Map<Long, Double>> read(Path file) throws IOException {
        Map<String, Map<Long, Double>> all = new LinkedHashMap<>();
        int number = 0;
        for (String line : Files.readAllLines(file)) {
            number++;
            try {
                JsonNode r = JSON.readTree(line);
                String name =
                        r.required("scenario").asText()
                                + ", "
                                + r.required("policy").asText()
                                + ", "
                                + r.required("load").asDouble();
                all.computeIfAbsent(name, k -> new LinkedHashMap<>())
                        .put(r.required("seed").asLong(), r.required("ttft_mean_ms").asDouble());
            } catch (IOException | IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        file + ", line " + number + " is not a result of `lab run --json`", e);
            }
        }
        return all;
    }
}
