package io.warmpath.lab.report;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.lab.Result;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Results for people: one block per scenario and load, a line per policy, means over seeds. */
public final class ResultTable {
    private ResultTable() {}

    public static String of(List<Result> results) {
        Map<String, Map<String, List<Result>>> blocks = new LinkedHashMap<>();
        for (Result r : results) {
            blocks.computeIfAbsent(
                            r.scenario() + " at load " + r.load(), k -> new LinkedHashMap<>())
                    .computeIfAbsent(r.policy(), k -> new java.util.ArrayList<>())
                    .add(r);
        }
        StringBuilder out = new StringBuilder();
        blocks.forEach(
                (title, policies) -> {
                    out.append(title).append('\n');
                    out.append(
                            "  policy             ttft ms       p90       p99    e2e ms"
                                    + "  itl ms   itl p99  good/s    hit   most   >5 s\n");
                    policies.forEach((name, of) -> out.append(line(name, of)));
                });
        return out.toString();
    }

    private static String line(String policy, List<Result> of) {
        return plain(
                "  %-16s %9.1f %9.1f %9.1f %9.1f %7.1f %9.1f %7.2f %6.3f %6.2f %6.0f%n",
                policy,
                mean(of, r -> r.ttft().mean()),
                mean(of, r -> r.ttft().p90()),
                mean(of, r -> r.ttft().p99()),
                mean(of, r -> r.e2e().mean()),
                mean(of, r -> r.itl().mean()),
                mean(of, r -> r.itl().p99()),
                mean(of, Result::goodPerSecond),
                mean(of, Result::hitRate),
                mean(of, Result::imbalance),
                mean(of, r -> (double) r.late()));
    }

    private static double mean(List<Result> of, ToDoubleFunction<Result> what) {
        return of.stream().mapToDouble(what).average().orElse(0);
    }
}
