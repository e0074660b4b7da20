package io.warmpath.lab.report;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.lab.Result;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * What a search for weights has found, for people: each policy of the held-back part against the
 * one that holds when nothing is set, seeds in pairs, and at the end one answer: the YAML of the
 * best policy with its gain, or that nothing need be set.
 */
public final class Advice {
    /** A gain below this is nothing to change a configuration for. */
    private static final double WORTHWHILE = 0.01;

    private final List<Result> held;
    private final String have;
    private final Map<String, String> snippets;
    private final String goalName;
    private final ToDoubleFunction<Result> goal;

    /**
     * @param held results of the held-back part
     * @param have the policy that holds when nothing is set
     * @param snippets the YAML that makes a gateway decide like each of the other policies, by
     *     their names
     * @param goalName what {@code goal} is, in words
     * @param goal of a result, the smaller the better
     */
    public Advice(
            List<Result> held,
            String have,
            Map<String, String> snippets,
            String goalName,
            ToDoubleFunction<Result> goal) {
        this.held = held;
        this.have = have;
        this.snippets = snippets;
        this.goalName = goalName;
        this.goal = goal;
    }

    /** Tables, and what to do at the end. */
    public String text() {
        Set<String> others = new LinkedHashSet<>();
        held.forEach(r -> others.add(r.policy()));
        others.remove(have);
        StringBuilder out = new StringBuilder("held-back part\n").append(ResultTable.of(held));
        out.append('\n').append(goalName).append(" against ").append(have);
        out.append(" on the held-back part\n");
        String best = have;
        for (String policy : others) {
            Paired change = against(policy, have);
            out.append(plain("  %-10s %s", policy, percent(change)));
            out.append(change.isWithinSpread() ? ", within the spread over seeds\n" : "\n");
            best = isBetter(against(policy, best)) ? policy : best;
        }
        out.append('\n').append(best.equals(have) ? keep(others) : set(best));
        return out.toString();
    }

    /** The gain is in a comment, so that all of it can be pasted. */
    private String set(String best) {
        return "# %s %s against %s, %s\n%s"
                .formatted(
                        percent(against(best, have)), goalName, have, seeds(), snippets.get(best));
    }

    /** Why what gained most is not enough. */
    private String keep(Set<String> others) {
        String most =
                Collections.min(others, Comparator.comparingDouble(p -> against(p, have).mean()));
        Paired gain = against(most, have);
        String why =
                Double.isNaN(gain.half())
                        ? "and one seed tells no spread, ask for more (--seeds)"
                        : gain.mean() >= 0
                                ? "which is no gain"
                                : gain.isWithinSpread()
                                        ? "which is within the spread over seeds"
                                        : "which is less than 1 %";
        return "keep %s: the best of the others, %s, changes %s by %s (%s), %s.\n"
                .formatted(have, most, goalName, percent(gain), seeds(), why);
    }

    private static boolean isBetter(Paired change) {
        return !change.isWithinSpread() && change.mean() < -WORTHWHILE;
    }

    private String seeds() {
        long seeds = held.stream().mapToLong(Result::seed).distinct().count();
        return seeds + (seeds == 1 ? " seed" : " seeds") + ", held back";
    }

    private static String percent(Paired change) {
        String mean = plain("%+.1f %%", change.percent());
        return Double.isNaN(change.half())
                ? mean
                : mean + plain(" +- %.1f %%", 100 * change.half());
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

    private Paired against(String one, String other) {
        Map<Long, Double> base = policy(other);
        return Paired.of(
                policy(one).entrySet().stream()
                        .mapToDouble(e -> e.getValue() - base.getOrDefault(e.getKey(), 0.0))
                        .toArray());
    }
}
