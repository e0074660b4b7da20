package io.warmpath.lab.report;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.lab.Capacity;
import io.warmpath.lab.Limits;
import io.warmpath.lab.policy.PolicyCatalog;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Capacities for people, a block per scenario with means over seeds, and for programs, a line per
 * seed. Stateless.
 */
public final class CapacityTable {
    private static final String BASE = "round-robin";

    /** An overload beyond this, as a part, is worth a word when it would not be seen. */
    private static final double TOLERATED = 0.02;

    private CapacityTable() {}

    public static String of(List<Capacity> found) {
        StringBuilder out = new StringBuilder();
        for (String scenario : found.stream().map(Capacity::scenario).distinct().toList()) {
            Map<String, List<Capacity>> policies = policies(found, scenario);
            out.append(scenario).append(": ").append(limits(policies)).append('\n');
            out.append(
                    "  policy           requests/s      over seeds / round-robin  / best peer"
                            + "    binds  ttft ms   itl ms     rate\n");
            double base = policies.containsKey(BASE) ? mean(policies.get(BASE)) : Double.NaN;
            double peer =
                    policies.entrySet().stream()
                            .filter(e -> isPeer(e.getKey()))
                            .mapToDouble(e -> mean(e.getValue()))
                            .max()
                            .orElse(Double.NaN);
            policies.forEach((name, of) -> out.append(line(name, of, base, peer)));
            out.append(doubt(policies));
        }
        return out.toString();
    }

    public static String json(List<Capacity> found) {
        return Lines.json(found, CapacityTable::members);
    }

    public static String csv(List<Capacity> found) {
        return Lines.csv(found, CapacityTable::members);
    }

    private static Map<String, Object> members(Capacity c) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("scenario", c.scenario());
        m.put("policy", c.policy());
        m.put("seed", c.seed());
        m.put("percentile", c.limits().percentile());
        m.put("ttft_limit_ms", c.limits().ttft());
        m.put("itl_limit_ms", c.limits().itl());
        m.put("requests_per_second", c.perSecond());
        m.put("rate", c.rate());
        m.put("binds", bound(c.binds()));
        m.put("ttft_ms", c.ttft());
        m.put("itl_ms", c.itl());
        m.put("window_s", c.windowSeconds());
        return m;
    }

    /** Of one scenario, in the order in which they were played. */
    static Map<String, List<Capacity>> policies(List<Capacity> found, String scenario) {
        return found.stream()
                .filter(c -> c.scenario().equals(scenario))
                .collect(
                        Collectors.groupingBy(
                                Capacity::policy, LinkedHashMap::new, Collectors.toList()));
    }

    /** What all of a scenario keep, in words. */
    static String limits(Map<String, List<Capacity>> policies) {
        Limits l = policies.values().iterator().next().getFirst().limits();
        return plain(
                "p%d TTFT < %s s, ITL < %s ms",
                l.percentile(), number(l.ttft() / 1000), number(l.itl()));
    }

    /** Requests a second, over seeds. */
    static double mean(List<Capacity> of) {
        return of.stream().mapToDouble(Capacity::perSecond).average().orElseThrow();
    }

    static double lowest(List<Capacity> of) {
        return of.stream().mapToDouble(Capacity::perSecond).min().orElseThrow();
    }

    static double highest(List<Capacity> of) {
        return of.stream().mapToDouble(Capacity::perSecond).max().orElseThrow();
    }

    private static boolean isPeer(String policy) {
        return PolicyCatalog.find(policy)
                .filter(p -> p.kind() == PolicyCatalog.Kind.PEER)
                .isPresent();
    }

    private static String line(String policy, List<Capacity> of, double base, double peer) {
        return plain(
                "  %-16s %10.2f %15s %13s %12s %8s %8.0f %8.1f %8.3f%n",
                policy,
                mean(of),
                of.size() == 1 ? "" : plain("%.2f to %.2f", lowest(of), highest(of)),
                ratio(mean(of) / base),
                ratio(mean(of) / peer),
                of.stream().map(c -> bound(c.binds())).distinct().collect(Collectors.joining(",")),
                of.stream().mapToDouble(Capacity::ttft).average().orElseThrow(),
                of.stream().mapToDouble(Capacity::itl).average().orElseThrow(),
                of.stream().mapToDouble(Capacity::rate).average().orElseThrow());
    }

    /**
     * Empty, or what the shortest window leaves open: a queue that grows slowly reaches the limit
     * for the time to the first token only at the end of it.
     */
    private static String doubt(Map<String, List<Capacity>> policies) {
        double unseen = 0;
        for (List<Capacity> of : policies.values()) {
            for (Capacity c : of) {
                unseen = Math.max(unseen, c.limits().ttft() / 1000 / c.windowSeconds());
            }
        }
        return unseen <= TOLERATED
                ? ""
                : plain(
                        "  short: an overload of %.0f %% would not be seen; a longer workload"
                                + " shows it%n",
                        100 * unseen);
    }

    static String bound(Capacity.Bound of) {
        return of.name().toLowerCase(Locale.ROOT);
    }

    /** Empty: nothing to compare with, or it carries nothing. */
    private static String ratio(double value) {
        return Double.isFinite(value) ? plain("%.2f", value) : "";
    }

    private static String number(double value) {
        return value == Math.rint(value) ? plain("%.0f", value) : String.valueOf(value);
    }
}
