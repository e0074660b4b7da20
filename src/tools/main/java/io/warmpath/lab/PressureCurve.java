package io.warmpath.lab;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Workload;
import io.warmpath.routing.rates.FleetPressure;
import java.util.ArrayList;
import java.util.List;

/**
 * What a gateway takes the pressure of its fleet to be, below, at and above the rate from which on
 * queues grow without end. That rate is found by halving to 1.5 %. Seed 1.
 */
final class PressureCurve {
    /** Parts of the rate that is found. */
    private static final double[] PARTS = {0.25, 0.5, 0.75, 0.85, 0.95, 1, 1.05, 1.15, 1.5};

    private static final double PRECISION = 1.015;

    /** So that the second half has minutes of its own. */
    private static final double LEAST_MILLIS = 180_000;

    private final Indexes indexes;
    private final Progress progress;

    /**
     * @param load part of the scenario's capacity
     * @param pressure mean over the second half of the run
     * @param growth as {@link Observed#growth}
     */
    record Point(double load, FleetPressure pressure, double growth) {
        /** A queue that stays finite varies by less. */
        private static final double GROWS = 0.01;

        boolean grows() {
            return growth > GROWS;
        }
    }

    /** {@code edge}: from this load on queues grow. {@code points}: at parts of it. */
    record Found(double edge, List<Point> points) {
        /** The part of the edge at which the pressure is 1, between the points nearest to it. */
        double one() {
            for (int i = 1; i < PARTS.length; i++) {
                double before = points.get(i - 1).pressure().value();
                double after = points.get(i).pressure().value();
                if (after >= 1) {
                    double way = (1 - before) / (after - before);
                    return PARTS[i - 1] + way * (PARTS[i] - PARTS[i - 1]);
                }
            }
            return Double.POSITIVE_INFINITY;
        }
    }

    PressureCurve(Indexes indexes, Progress progress) {
        this.indexes = indexes;
        this.progress = progress;
    }

    static Point at(
            Scenario scenario,
            PolicyCatalog.Named policy,
            double load,
            Workload workload,
            Indexes indexes) {
        Observed run =
                CellRun.observe(new Cell(scenario, policy, load, 1), workload, indexes, null);
        return new Point(load, run.pressure(), run.growth());
    }

    /**
     * @throws IllegalArgumentException when queues grow at every rate, or at none, or the workload
     *     is too short
     */
    Found find(Scenario scenario, PolicyCatalog.Named policy) {
        Workload workload = scenario.draw().apply(1);
        double low = 0;
        double high = 0;
        double load = 1;
        int tries = 0;
        while (low == 0 || high == 0 || high / low > PRECISION) {
            progress.show(++tries, 25, scenario.name() + " " + policy.name());
            if (at(scenario, policy, load, workload, indexes).grows()) {
                high = load;
                load = low == 0 ? load / 1.5 : Math.sqrt(low * high);
            } else {
                low = load;
                load = high == 0 ? load * 1.5 : Math.sqrt(low * high);
            }
            if (load < 1e-3 || load > 1e3) {
                throw new IllegalArgumentException(
                        scenario.name() + ": its queues grow at no rate, or at every");
            }
        }
        double edge = Math.sqrt(low * high);
        double millis = workload.spanMillis() / (edge * scenario.capacity());
        if (millis < LEAST_MILLIS) {
            throw new IllegalArgumentException(
                    "%s is over after %.0f s at the rate where its queues grow; it has to last %.0f"
                            .formatted(scenario.name(), millis / 1000, LEAST_MILLIS / 1000));
        }
        List<Point> points = new ArrayList<>();
        for (double part : PARTS) {
            progress.show(++tries, 25, scenario.name() + " " + policy.name());
            points.add(at(scenario, policy, part * edge, workload, indexes));
        }
        progress.show(1, 1, "");
        return new Found(edge, points);
    }

    /** A table of one scenario. */
    static String text(Scenario scenario, Found found) {
        StringBuilder text =
                new StringBuilder(
                        plain(
                                "%s: queues grow from %.3g/s on, the pressure is 1 at %.2f of it%n"
                                        + "%8s %8s %8s %8s %8s %8s %8s%n",
                                scenario.name(),
                                found.edge() * scenario.capacity(),
                                found.one(),
                                "rate",
                                "pressure",
                                "prefill",
                                "decode",
                                "steps",
                                "waiting",
                                "growth"));
        for (int i = 0; i < PARTS.length; i++) {
            Point at = found.points().get(i);
            FleetPressure p = at.pressure();
            text.append(
                    plain(
                            "%8.2f %8.3f %8.3f %8.3f %8.3f %8.3f %7.1f%%%n",
                            PARTS[i],
                            p.value(),
                            p.prefill(),
                            p.decode(),
                            p.steps(),
                            p.waiting(),
                            100 * at.growth()));
        }
        return text.toString();
    }
}
