package io.warmpath.lab;

import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Workload;

/**
 * The highest rate at which nine of ten requests have their first token within the scenario's
 * limit, by halving to 1.5 %. Seed 1.
 */
final class CapacitySearch {
    private static final double PRECISION = 1.015;

    private final Indexes indexes;
    private final Progress progress;

    /**
     * @param rate starts at rate 1 come this many times as fast
     * @param result at that rate
     */
    record Found(double rate, Result result) {}

    CapacitySearch(Indexes indexes, Progress progress) {
        this.indexes = indexes;
        this.progress = progress;
    }

    Found find(Scenario scenario, PolicyCatalog.Named policy) {
        Workload workload = scenario.draw().apply(1);
        double low = 0;
        double high = 0;
        double load = 1;
        Result best = null;
        int tries = 0;
        while (low == 0 || high == 0 || high / low > PRECISION) {
            progress.show(++tries, 12, scenario.name() + " " + policy.name());
            Cell cell = new Cell(scenario, policy, load, 1);
            Result r = CellRun.play(cell, workload, indexes);
            if (r.ttft().p90() <= scenario.sloMillis()) {
                low = load;
                best = r;
                load = high == 0 ? load * 1.5 : Math.sqrt(low * high);
            } else {
                high = load;
                load = low == 0 ? load / 1.5 : Math.sqrt(low * high);
            }
            if (load < 1e-3 || load > 1e3) {
                throw new IllegalArgumentException(
                        scenario.name() + " keeps its limit at no rate, or at every");
            }
        }
        progress.show(1, 1, "");
        return new Found(low * scenario.capacity(), java.util.Objects.requireNonNull(best));
    }
}
