package io.warmpath.lab;

import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Workload;
import java.util.Objects;

/**
 * The fewest engines with which nine of ten requests have their first token within the scenario's
 * limit, at a given rate. Seed 1. One engine fewer does not keep it; that more of them always would
 * is taken for granted.
 */
final class Size {
    private static final int MOST = 1024;

    private final Indexes indexes;
    private final Progress progress;

    record Found(int engines, Result result) {}

    Size(Indexes indexes, Progress progress) {
        this.indexes = indexes;
        this.progress = progress;
    }

    /** Throws {@link IllegalArgumentException} when 1,024 are not enough. */
    Found find(Scenario scenario, PolicyCatalog.Named policy, double load) {
        Workload workload = scenario.draw().apply(1);
        int fails = 0;
        int keeps = MOST + 1;
        int engines = scenario.engines();
        Result best = null;
        int tries = 0;
        while (keeps - fails > 1) {
            progress.show(++tries, 8, scenario.name() + " " + policy.name() + " " + engines);
            Scenario of = scenario.withEngines(engines);
            Result r = CellRun.play(new Cell(of, policy, load, 1), workload, indexes);
            if (r.ttft().p90() <= scenario.sloMillis()) {
                keeps = engines;
                best = r;
            } else {
                fails = engines;
            }
            engines =
                    keeps > MOST
                            ? Math.min(MOST, 2 * fails)
                            : fails == 0 && tries < 3
                                    ? Math.max(1, keeps / 2)
                                    : (fails + keeps) / 2;
            if (fails == MOST) {
                throw new IllegalArgumentException(
                        scenario.name() + " does not keep its limit with " + MOST + " engines");
            }
        }
        progress.show(1, 1, "");
        return new Found(keeps, Objects.requireNonNull(best));
    }
}
