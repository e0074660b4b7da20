package io.warmpath.lab.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Two reports, run for run: is B's mean time to the first token another one, or is the difference
 * what seeds make? Seeds are compared in pairs, by Student's t of the logarithms of their ratios,
 * at 95 %.
 */
public final class Comparison {
    private static final JsonMapper JSON = new JsonMapper();

    /** Two-sided 95 % quantiles for 1, 2, ... degrees of freedom; beyond them 2. */
    private static final double[] STUDENT = {
        12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23
    };

    private Comparison() {}

    /**
     * @throws IllegalArgumentException when the files have no run in common
     */
    public static String of(Path a, Path b) throws IOException {
        Map<String, Map<Long, Double>> before = read(a);
        Map<String, Map<Long, Double>> after = read(b);
        StringBuilder out = new StringBuilder();
        out.append(
                String.format(
                        Locale.ROOT,
                        "%-34s %9s %9s %8s %8s  %s%n",
                        "scenario, policy, load",
                        "A ms",
                        "B ms",
                        "change",
                        "+-",
                        ""));
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
        double mean = 0;
        for (double l : logs) {
            mean += l / n;
        }
        double squares = 0;
        for (double l : logs) {
            squares += (l - mean) * (l - mean);
        }
        double half =
                n < 2
                        ? Double.NaN
                        : (n - 2 < STUDENT.length ? STUDENT[n - 2] : 2)
                                * Math.sqrt(squares / (n - 1) / n);
        String verdict =
                n < 2
                        ? "one seed: no spread known"
                        : Math.abs(mean) <= half
                                ? "within the spread"
                                : mean < 0 ? "B is faster" : "B is slower";
        return String.format(
                Locale.ROOT,
                "%-34s %9.1f %9.1f %+7.1f%% %8s  %s%n",
                name,
                meanA,
                meanB,
                100 * Math.expm1(mean),
                n < 2 ? "" : String.format(Locale.ROOT, "%.1f%%", 100 * half),
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
