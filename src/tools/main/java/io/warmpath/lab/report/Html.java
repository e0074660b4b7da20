package io.warmpath.lab.report;

import io.warmpath.lab.Result;
import io.warmpath.plot.Chart;
import io.warmpath.plot.Svg;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * All results as one page that needs nothing else: for each scenario times to the first token and
 * hit rates by load, and the requests on each engine over time. Stateless.
 */
public final class Html {
    private static final String HEAD =
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Warmpath lab</title>
            <style>
            body{font:14px system-ui,sans-serif;margin:24px;color:#222;max-width:1360px}
            h2{margin:28px 0 4px} h3{font-weight:500;margin:12px 0 0}
            pre{font-size:12px;line-height:1.35}
            %s%s</style></head><body><h1>Warmpath lab</h1>
            <p>Trust ratios between policies, not milliseconds. Means over seeds; the first quarter
            of the arrivals' time is not counted.</p>
            """
                    .formatted(Svg.STYLE, DisagreementTable.STYLE);

    private static final String DECISIONS =
            """
            <h3>Where policies disagree</h3><p>The requests of seed 1 with the largest differences;
            click one for the numbers it was decided by. Each policy is alone with its own engines,
            which hold what it has sent there: the same number is not the same engine's state.</p>
            """;

    private Html() {}

    /**
     * @param ours as for {@link Standing}
     * @param disagreements of pairs of policies, those of a scenario one after the other
     */
    public static String of(List<Result> results, String ours, List<Disagreement> disagreements) {
        StringBuilder out = new StringBuilder(HEAD);
        for (String scenario : distinct(results, Result::scenario)) {
            List<Result> of = results.stream().filter(r -> r.scenario().equals(scenario)).toList();
            out.append("<h2>").append(Svg.text(scenario)).append("</h2>\n<div>");
            out.append(byLoad(of, "time to first token, p50, ms, by load", r -> r.ttft().p50()));
            out.append(byLoad(of, "p90, ms", r -> r.ttft().p90()));
            out.append(byLoad(of, "p99, ms", r -> r.ttft().p99()));
            out.append(byLoad(of, "hit rate", Result::hitRate));
            out.append(byLoad(of, "time between tokens, p99, ms", r -> r.itl().p99()));
            out.append(byLoad(of, "prompt tokens, most / mean engine", Result::imbalance));
            out.append("</div>\n<details><summary>requests on each engine over time</summary>");
            of.stream().filter(r -> r.seed() == 1).forEach(r -> out.append(engines(r)));
            out.append("</details>\n<pre>").append(Svg.text(ResultTable.of(of))).append("</pre>\n");
            List<Disagreement> here =
                    disagreements.stream().filter(d -> d.scenario().equals(scenario)).toList();
            if (!here.isEmpty()) {
                out.append(DECISIONS);
                out.append(DisagreementTable.tables(here, disagreements.indexOf(here.getFirst())));
            }
        }
        String standing = new Standing(results, ours).markdown();
        if (!standing.isEmpty()) {
            out.append("<h2>against other routers</h2>\n<pre>").append(Svg.text(standing));
            out.append("</pre>\n");
        }
        if (!disagreements.isEmpty()) {
            out.append("<script type=\"application/json\" id=\"decisions\">");
            out.append(DisagreementTable.data(disagreements)).append("</script>\n<script>\n");
            out.append(DisagreementTable.SCRIPT).append("</script>\n");
        }
        return out.append("</body></html>\n").toString();
    }

    private static String byLoad(List<Result> of, String title, ToDoubleFunction<Result> what) {
        double[] loads = of.stream().mapToDouble(Result::load).distinct().sorted().toArray();
        Chart chart = new Chart(title, loads);
        for (String policy : distinct(of, Result::policy)) {
            double[] y = new double[loads.length];
            for (int i = 0; i < loads.length; i++) {
                double load = loads[i];
                y[i] =
                        of.stream()
                                .filter(r -> r.policy().equals(policy) && r.load() == load)
                                .mapToDouble(what)
                                .average()
                                .orElse(0);
            }
            chart.line(policy, y);
        }
        return chart.svg();
    }

    private static String engines(Result r) {
        int points = r.running().isEmpty() ? 0 : r.running().getFirst().size();
        if (points == 0) {
            return "";
        }
        double[] minutes = new double[points];
        for (int i = 0; i < points; i++) {
            minutes[i] = (i + 0.5) * r.runningSeconds() / points / 60;
        }
        Chart chart = new Chart(r.policy() + ", load " + r.load() + ", minutes", minutes);
        for (int e = 0; e < r.running().size(); e++) {
            chart.line(
                    "engine " + e,
                    r.running().get(e).stream().mapToDouble(Double::doubleValue).toArray());
        }
        return chart.svg();
    }

    private static Set<String> distinct(List<Result> results, Function<Result, String> what) {
        Set<String> all = new LinkedHashSet<>();
        results.stream().map(what).forEach(all::add);
        return all;
    }
}
