package io.warmpath.lab.report;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.lab.Result;
import io.warmpath.lab.policy.PolicyCatalog;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * One policy of ours against the rules of others: mean time to the first token, scenario by policy,
 * as a Markdown table; below it the geometric means of the ratios. Seeds are averaged.
 *
 * @param ours name of the policy that the others are compared with
 */
public record Standing(List<Result> results, String ours) {
    /** Empty unless there are results of ours and of at least one peer. */
    public String markdown() {
        List<String> peers = new ArrayList<>();
        List<String> others = new ArrayList<>();
        boolean known = false;
        for (String policy : distinct(r -> true, Result::policy)) {
            if (policy.equals(ours)) {
                known = true;
            } else if (kind(policy) == PolicyCatalog.Kind.PEER) {
                peers.add(policy);
            } else {
                others.add(policy);
            }
        }
        if (!known || peers.isEmpty()) {
            return "";
        }
        StringBuilder out = new StringBuilder();
        for (double load : results.stream().mapToDouble(Result::load).distinct().toArray()) {
            out.append(table(load, peers, others));
        }
        return out.toString();
    }

    private String table(double load, List<String> peers, List<String> others) {
        Set<String> scenarios = distinct(r -> r.load() == load, Result::scenario);
        List<String> columns = new ArrayList<>(peers);
        columns.addAll(others);
        StringBuilder out = new StringBuilder();
        out.append("| load ").append(load).append(", ttft ms | ").append(ours);
        out.append(" | to best peer | p99 | hit");
        columns.forEach(c -> out.append(" | ").append(c));
        out.append(" |\n|---").append("|---:".repeat(4 + columns.size())).append("|\n");
        Means best = new Means();
        List<Means> each = new ArrayList<>();
        columns.forEach(c -> each.add(new Means()));
        for (String s : scenarios) {
            double own = mean(s, ours, load).orElse(Double.NaN);
            double least = Double.POSITIVE_INFINITY;
            StringBuilder cells = new StringBuilder();
            for (int i = 0; i < columns.size(); i++) {
                double other = mean(s, columns.get(i), load).orElse(Double.NaN);
                least = i < peers.size() && other < least ? other : least;
                each.get(i).add(own / other);
                cells.append(plain(" | %.0f", other));
            }
            best.add(own / least);
            out.append(
                    plain(
                            "| %s | %.0f | %.2f | %.0f | %.3f%s |%n",
                            s,
                            own,
                            own / least,
                            of(s, ours, load).stream()
                                    .mapToDouble(r -> r.ttft().p99())
                                    .average()
                                    .orElse(Double.NaN),
                            of(s, ours, load).stream()
                                    .mapToDouble(Result::hitRate)
                                    .average()
                                    .orElse(Double.NaN),
                            cells));
        }
        out.append(plain("| ratio, geometric mean | | %.2f | |", best.mean()));
        each.forEach(m -> out.append(plain(" | %.2f", m.mean())));
        return out.append(" |\n\n").toString();
    }

    private List<Result> of(String scenario, String policy, double load) {
        return results.stream()
                .filter(r -> r.scenario().equals(scenario))
                .filter(r -> r.policy().equals(policy) && r.load() == load)
                .toList();
    }

    private OptionalDouble mean(String scenario, String policy, double load) {
        return of(scenario, policy, load).stream().mapToDouble(r -> r.ttft().mean()).average();
    }

    private Set<String> distinct(Predicate<Result> which, Function<Result, String> what) {
        Set<String> all = new LinkedHashSet<>();
        results.stream().filter(which).map(what).forEach(all::add);
        return all;
    }

    private static PolicyCatalog.Kind kind(String policy) {
        return PolicyCatalog.find(policy)
                .map(PolicyCatalog.Named::kind)
                .orElse(PolicyCatalog.Kind.OURS);
    }

    /** A geometric mean; what is not a number is left out. */
    private static final class Means {
        private double logs;
        private int count;

        void add(double ratio) {
            if (!Double.isNaN(ratio)) {
                logs += Math.log(ratio);
                count++;
            }
        }

        double mean() {
            return count == 0 ? Double.NaN : Math.exp(logs / count);
        }
    }
}
