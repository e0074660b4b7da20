package io.warmpath.lab.report;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.lab.Result;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * Known complaints about routers: of each what is measured, what the rule that it is about makes of
 * it, and the numbers of those policies that have played them all, with their ratio to that. Seeds
 * are averaged.
 */
public final class ComplaintTable {
    private ComplaintTable() {}

    /**
     * One complaint.
     *
     * @param scenario its workload
     * @param naive the rule that it is about
     * @param measure what shows it, with the unit
     * @param most as much of the naive rule's number as ours may have; where more is better, as
     *     little
     */
    public record Complaint(
            String scenario,
            String naive,
            String measure,
            boolean moreIsBetter,
            double most,
            ToDoubleFunction<Result> value) {
        boolean isKept(double ratio) {
            return moreIsBetter ? ratio >= most : ratio <= most;
        }
    }

    /** What shows a complaint, with its unit. */
    private record Measure(String words, ToDoubleFunction<Result> value) {
        static final Measure BUSIEST = new Measure("busiest, %", r -> 100 * r.mostShare());
        static final Measure FIRST = new Measure("first token, ms", r -> r.ttft().mean());
        static final Measure HITS = new Measure("hits, %", r -> 100 * r.hitRate());
        static final Measure SENT_THERE = new Measure("sent there", r -> r.sent().get(1));
    }

    public static final List<Complaint> ALL =
            List.of(
                    less("equal-scores", "first-of-equals", Measure.BUSIEST, 0.3),
                    less("idle-faster", "first-of-equals", Measure.BUSIEST, 0.3),
                    less("idle-unequal", "round-robin", Measure.FIRST, 1.03),
                    more("idle-documents", "first-of-equals", Measure.HITS, 1.3),
                    less("bursts", "late-count", Measure.FIRST, 0.33),
                    less("system-prompt", "longest-prefix", Measure.FIRST, 0.02),
                    less("new-worker", "longest-prefix", Measure.FIRST, 0.05),
                    less("new-worker-later", "longest-prefix", Measure.FIRST, 0.05),
                    less("unequal", "round-robin", Measure.FIRST, 0.1),
                    more("imbalance", "drops-affinity", Measure.HITS, 1.3),
                    less("imbalance", "drops-affinity", Measure.FIRST, 0.5),
                    less("stuck-worker", "smallest-cache", Measure.SENT_THERE, 0.02),
                    less("quarter-shared", "longest-prefix", Measure.FIRST, 0.67),
                    less("quarter-shared", "round-robin", Measure.FIRST, 1.03));

    private static Complaint less(String scenario, String naive, Measure by, double most) {
        return new Complaint(scenario, naive, by.words, false, most, by.value);
    }

    private static Complaint more(String scenario, String naive, Measure by, double least) {
        return new Complaint(scenario, naive, by.words, true, least, by.value);
    }

    /** Complaints whose runs are all there, as Markdown; a ratio beyond its mark has a star. */
    public static String of(List<Result> results) {
        Set<String> policies = new LinkedHashSet<>();
        for (Result r : results) {
            if (ALL.stream().noneMatch(c -> Double.isNaN(mean(results, c, r.policy())))) {
                policies.add(r.policy());
            }
        }
        StringBuilder out = new StringBuilder("| complaint | measure | naive rule | | mark");
        policies.forEach(p -> out.append(" | ").append(p));
        out.append(" |\n|---|---|---|---:|---:").append("|---:".repeat(policies.size()));
        out.append("|\n");
        for (Complaint c : ALL) {
            double bad = mean(results, c, c.naive());
            if (Double.isNaN(bad)) {
                continue;
            }
            List<String> cells = new ArrayList<>();
            for (String p : policies) {
                double value = mean(results, c, p);
                double ratio = value / bad;
                cells.add(plain("%s (%.2f%s)", number(value), ratio, c.isKept(ratio) ? "" : "*"));
            }
            out.append(
                    plain(
                            "| %s | %s | %s | %s | %s %.2f | %s |%n",
                            c.scenario(),
                            c.measure(),
                            c.naive(),
                            number(bad),
                            c.moreIsBetter() ? ">=" : "<=",
                            c.most(),
                            String.join(" | ", cells)));
        }
        return out.toString();
    }

    private static String number(double value) {
        return plain(value < 100 ? "%.1f" : "%,.0f", value);
    }

    private static double mean(List<Result> results, Complaint c, String policy) {
        return results.stream()
                .filter(r -> r.scenario().equals(c.scenario()) && r.policy().equals(policy))
                .mapToDouble(c.value())
                .average()
                .orElse(Double.NaN);
    }
}
