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

    public static final List<Complaint> ALL =
            List.of(
                    less(
                            "equal-scores",
                            "first-of-equals",
                            "busiest, %",
                            0.3,
                            ComplaintTable::busiest),
                    less(
                            "idle-faster",
                            "first-of-equals",
                            "busiest, %",
                            0.3,
                            ComplaintTable::busiest),
                    less(
                            "idle-unequal",
                            "round-robin",
                            "first token, ms",
                            1.03,
                            ComplaintTable::first),
                    more("idle-documents", "first-of-equals", "hits, %", 1.3, ComplaintTable::hits),
                    less("bursts", "late-count", "first token, ms", 0.33, ComplaintTable::first),
                    less(
                            "system-prompt",
                            "longest-prefix",
                            "first token, ms",
                            0.02,
                            ComplaintTable::first),
                    less(
                            "new-worker",
                            "longest-prefix",
                            "first token, ms",
                            0.05,
                            ComplaintTable::first),
                    less(
                            "new-worker-later",
                            "longest-prefix",
                            "first token, ms",
                            0.05,
                            ComplaintTable::first),
                    less("unequal", "round-robin", "first token, ms", 0.1, ComplaintTable::first),
                    more("imbalance", "drops-affinity", "hits, %", 1.3, ComplaintTable::hits),
                    less(
                            "imbalance",
                            "drops-affinity",
                            "first token, ms",
                            0.5,
                            ComplaintTable::first),
                    less(
                            "stuck-worker",
                            "smallest-cache",
                            "sent there",
                            0.02,
                            r -> r.sent().get(1)),
                    less(
                            "quarter-shared",
                            "longest-prefix",
                            "first token, ms",
                            0.67,
                            ComplaintTable::first),
                    less(
                            "quarter-shared",
                            "round-robin",
                            "first token, ms",
                            1.03,
                            ComplaintTable::first));

    private static double first(Result r) {
        return r.ttft().mean();
    }

    private static double busiest(Result r) {
        return 100 * r.mostShare();
    }

    private static double hits(Result r) {
        return 100 * r.hitRate();
    }

    private static Complaint less(
            String scenario,
            String naive,
            String measure,
            double most,
            ToDoubleFunction<Result> v) {
        return new Complaint(scenario, naive, measure, false, most, v);
    }

    private static Complaint more(
            String scenario,
            String naive,
            String measure,
            double least,
            ToDoubleFunction<Result> v) {
        return new Complaint(scenario, naive, measure, true, least, v);
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
