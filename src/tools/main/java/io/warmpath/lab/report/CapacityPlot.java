package io.warmpath.lab.report;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.lab.Capacity;
import io.warmpath.plot.Bars;
import io.warmpath.plot.Svg;
import java.util.List;
import java.util.Map;

/** Capacities as a file of SVG: a panel per scenario, a bar per policy. Stateless. */
public final class CapacityPlot {
    private CapacityPlot() {}

    /** {@code found}: at least one. */
    public static String of(List<Capacity> found) {
        Bars bars = new Bars(found.stream().map(Capacity::policy).distinct().toList());
        for (String scenario : found.stream().map(Capacity::scenario).distinct().toList()) {
            Map<String, List<Capacity>> policies = CapacityTable.policies(found, scenario);
            String about = "requests/s at " + CapacityTable.limits(policies);
            bars.panel(
                    scenario,
                    about,
                    policies.entrySet().stream().map(e -> bar(e.getValue())).toList());
        }
        return Svg.file(bars.svg());
    }

    private static Bars.Bar bar(List<Capacity> of) {
        double low = CapacityTable.lowest(of);
        double high = CapacityTable.highest(of);
        String note =
                plain(
                        "%.2f to %.2f over seeds; %s binds",
                        low, high, CapacityTable.bound(of.getFirst().binds()));
        return new Bars.Bar(of.getFirst().policy(), low, CapacityTable.mean(of), high, note);
    }
}
