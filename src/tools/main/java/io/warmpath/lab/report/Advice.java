package io.warmpath.lab.report;

import io.warmpath.lab.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * What a search for weights has found, for people: each policy of the held-back part against the
 * one that holds when nothing is set, seeds in pairs, and whether that is a reason to set anything.
 */
public final class Advice {
    /** A gain below this is nothing to change a configuration for. */
    private static final double WORTHWHILE = 0.01;

    private final List<Result> held;
    private final String have;
    private final String tuned;
    private final Map<String, String> presets;
    private final ToDoubleFunction<Result> goal;

    /**
     * @param held results of the held-back part
     * @param presets how to set what the other policies stand for, by their names
     * @param goal of a result, the smaller the better
     */
    public Advice(
            List<Result> held,
            String tuned,
            String have,
            Map<String, String> presets,
            ToDoubleFunction<Result> goal) {
        this.held = held;
        this.tuned = tuned;
        this.have = have;
        this.presets = presets;
        this.goal = goal;
    }

    /**
     * @param keys that make a gateway decide as was found
     */
    public String text(List<String> keys) {
        StringBuilder out = new StringBuilder("held-back part\n").append(ResultTable.of(held));
        out.append("\nagainst ").append(have).append(" on the held-back part\n");
        Set<String> policies = new LinkedHashSet<>();
        held.forEach(r -> policies.add(r.policy()));
        policies.remove(have);
        for (String policy : policies) {
            out.append(String.format(Locale.ROOT, "  %-10s %s%n", policy, change(policy)));
        }
        Paired gain = against(policy(tuned));
        boolean better = !gain.isWithinSpread() && gain.mean() < -WORTHWHILE;
        if (better) {
            out.append("\nSet\n");
            keys.forEach(k -> out.append("  ").append(k).append('\n'));
        } else {
            out.append("\nKeep what you have: ");
            out.append(reason(gain)).append("\nThe best that was found, for the record\n");
            keys.forEach(k -> out.append("  ").append(k).append('\n'));
        }
        for (String other : policies) {
            if (!other.equals(tuned)) {
                Paired to = against(policy(other), policy(better ? tuned : have));
                if (!to.isWithinSpread() && to.mean() < -WORTHWHILE) {
                    out.append(
                            String.format(
                                    Locale.ROOT,
                                    "%nBetter still by %.1f %%, without a search: %s%n",
                                    -to.percent(),
                                    presets.getOrDefault(other, other)));
                }
            }
        }
        return out.toString();
    }

    private String change(String policy) {
        Paired p = against(policy(policy));
        return Double.isNaN(p.half())
                ? String.format(Locale.ROOT, "%+6.1f %%", p.percent())
                : String.format(
                        Locale.ROOT,
                        "%+6.1f %% +- %.1f %%%s",
                        p.percent(),
                        100 * p.half(),
                        p.isWithinSpread() ? ", within the spread over seeds" : "");
    }

    private static String reason(Paired gain) {
        if (Double.isNaN(gain.half())) {
            return "one seed tells no spread, ask for more (--seeds)";
        }
        return gain.isWithinSpread()
                ? "the difference on the held-back part is within the spread over seeds."
                : gain.mean() > 0
                        ? "what was found on the training part is worse on the held-back part."
                        : "the gain on the held-back part is less than 1 %.";
    }

    /** Logarithms of the goal by seed, a mean over scenarios and loads. */
    private Map<Long, Double> policy(String name) {
        Map<Long, List<Double>> logs = new LinkedHashMap<>();
        for (Result r : held) {
            if (r.policy().equals(name)) {
                logs.computeIfAbsent(r.seed(), k -> new ArrayList<>())
                        .add(Math.log(goal.applyAsDouble(r)));
            }
        }
        Map<Long, Double> means = new LinkedHashMap<>();
        logs.forEach(
                (seed, of) ->
                        means.put(
                                seed,
                                of.stream().mapToDouble(Double::doubleValue).average().orElse(0)));
        return means;
    }

    private Paired against(Map<Long, Double> one) {
        return against(one, policy(have));
    }

    private static Paired against(Map<Long, Double> one, Map<Long, Double> other) {
        return Paired.of(
                one.entrySet().stream()
                        .mapToDouble(e -> e.getValue() - other.getOrDefault(e.getKey(), 0.0))
                        .toArray());
    }
}
