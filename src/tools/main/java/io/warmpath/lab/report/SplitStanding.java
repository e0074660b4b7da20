package io.warmpath.lab.report;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.lab.Result;
import io.warmpath.lab.policy.PolicyCatalog;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * A policy of ours that splits requests against the same engines without roles ({@code latency})
 * and the rules of others, whichever is best in each of four measures, as a Markdown table. Seeds
 * are averaged; above 1 ours is worse, in all four.
 */
public final class SplitStanding {
    private static final String AGGREGATED = "latency";

    private record Measure(String title, ToDoubleFunction<Result> of) {}

    /** Less is better. */
    private static final List<Measure> MEASURES =
            List.of(
                    new Measure("ttft", r -> r.ttft().mean()),
                    new Measure("ttft p99", r -> r.ttft().p99()),
                    new Measure("itl", r -> r.itl().mean()),
                    new Measure("goodput", r -> 1 / r.goodPerSecond()));

    private final List<Result> results;
    private final String ours;

    /** {@code ours}: name of the policy that the others are compared with. */
    public SplitStanding(List<Result> results, String ours) {
        this.results = results;
        this.ours = ours;
    }

    /** Empty unless ours splits requests, and something it is compared with was played. */
    public String markdown() {
        Set<String> others = new LinkedHashSet<>();
        for (Result r : results) {
            boolean peer =
                    PolicyCatalog.find(r.policy())
                            .filter(p -> p.kind() == PolicyCatalog.Kind.PEER)
                            .isPresent();
            if (peer || r.policy().equals(AGGREGATED)) {
                others.add(r.policy());
            }
        }
        StringBuilder out = new StringBuilder();
        if (PolicyCatalog.splits(ours) && !others.isEmpty()) {
            results.stream()
                    .mapToDouble(Result::load)
                    .distinct()
                    .forEach(load -> table(load, others, out));
        }
        return out.toString();
    }

    private void table(double load, Set<String> others, StringBuilder out) {
        out.append(plain("| load %s, %s to the best other", load, ours));
        for (Measure m : MEASURES) {
            out.append(" | ").append(m.title).append(" | of");
        }
        out.append(" |\n|---").append("|---:|---".repeat(MEASURES.size())).append("|\n");
        results.stream()
                .filter(r -> r.load() == load && r.policy().equals(ours))
                .map(Result::scenario)
                .distinct()
                .forEach(s -> row(s, load, others, out));
        out.append('\n');
    }

    private void row(String scenario, double load, Set<String> others, StringBuilder out) {
        out.append("| ").append(scenario);
        for (Measure m : MEASURES) {
            String best = "";
            double least = Double.POSITIVE_INFINITY;
            for (String other : others) {
                double of = mean(scenario, other, load, m);
                if (of < least) {
                    least = of;
                    best = other;
                }
            }
            double ratio = mean(scenario, ours, load, m) / least;
            out.append(
                    best.isEmpty()
                            ? " | - | nobody" // no request kept the limits
                            : plain(" | %.3f | %s", ratio, best));
        }
        out.append(" |\n");
    }

    private double mean(String scenario, String policy, double load, Measure of) {
        return results.stream()
                .filter(r -> r.scenario().equals(scenario) && r.load() == load)
                .filter(r -> r.policy().equals(policy))
                .mapToDouble(of.of)
                .average()
                .orElse(Double.POSITIVE_INFINITY);
    }
}
