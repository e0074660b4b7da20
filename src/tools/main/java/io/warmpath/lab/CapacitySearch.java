package io.warmpath.lab;

import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Workload;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The highest rate at which the limits are kept, for each scenario, seed and policy: by halving to
 * 1.5 %, from the last seed's rate on. That a lower rate keeps them, too, is taken for granted. One
 * thread; equal flags give equal results.
 */
final class CapacitySearch {
    private static final double PRECISION = 1.015;
    private static final double SMALL_STEP = 1.0149; // no more than that, rounding included
    private static final double FIRST_STEP = 1.5;

    /** Loads outside are not played; rules that look at the clock take long at low ones. */
    private static final double LOWEST = 0.01;

    private static final double HIGHEST = 1e3;

    /** Of one search, about. */
    private static final double PLAYS = 10;

    private final LabFlags flags;
    private final Indexes indexes;
    private final Progress progress;
    private final double all;
    private int done;

    CapacitySearch(LabFlags flags, Indexes indexes, Progress progress) {
        this.flags = flags;
        this.indexes = indexes;
        this.progress = progress;
        all = (double) flags.scenarios.size() * flags.seeds * flags.policies.size();
    }

    /** Throws {@link IllegalArgumentException} when a workload keeps its limits at every rate. */
    List<Capacity> find() {
        List<Capacity> found = new ArrayList<>();
        for (Scenario s : flags.scenarios) {
            Map<String, Double> before = new HashMap<>();
            for (int seed = 1; seed <= flags.seeds; seed++) {
                Workload workload = s.draw().apply(seed);
                for (PolicyCatalog.Named p : flags.policies) {
                    Double known = before.get(p.name());
                    Cell from =
                            new Cell(
                                    s,
                                    p,
                                    known == null ? 1 : known,
                                    seed,
                                    flags.lagMillis,
                                    flags.replicas(),
                                    flags.onePiece);
                    Found of = find(from, workload, known == null ? FIRST_STEP : SMALL_STEP);
                    before.put(p.name(), of.load);
                    found.add(of.capacity);
                    done++;
                }
            }
        }
        progress.show(1, 1, "");
        return found;
    }

    private record Played(double load, Result result) {}

    private record Found(double load, Capacity capacity) {}

    /** {@code step}: by which to go on while one side is not known; squared each time. */
    private Found find(Cell from, Workload workload, double step) {
        Limits limits = flags.limits(from.scenario());
        String name = from.scenario().name();
        Played kept = null;
        Played broken = null;
        double load = from.load();
        double by = step;
        int plays = 0;
        while (kept == null || broken == null || broken.load > PRECISION * kept.load) {
            double part = Math.min(0.95, plays++ / PLAYS);
            progress.show(done + part, all, name + " " + from.policy().name());
            Played now = new Played(load, CellRun.play(from.withLoad(load), workload, indexes));
            boolean keeps = limits.areKept(now.result);
            kept = keeps ? now : kept;
            broken = keeps ? broken : now;
            if (kept != null && broken != null) {
                load = Math.sqrt(kept.load * broken.load);
            } else if (keeps && load >= HIGHEST) {
                throw new IllegalArgumentException(
                        name
                                + " keeps its limits at every rate: it ends before queues build"
                                + " up; take a longer one");
            } else if (!keeps && load <= LOWEST) {
                break;
            } else {
                load = Math.clamp(keeps ? load * by : load / by, LOWEST, HIGHEST);
                by *= by;
            }
        }
        Played last = Objects.requireNonNull(broken);
        Played best = kept == null ? last : kept;
        Result r = best.result;
        Capacity capacity =
                new Capacity(
                        name,
                        from.policy().name(),
                        from.seed(),
                        limits,
                        kept == null ? 0 : r.endedPerSecond(),
                        kept == null ? 0 : from.withLoad(kept.load).rate(),
                        limits.broken(last.result),
                        r.ttft().percentile(limits.percentile()),
                        r.itl().percentile(limits.percentile()),
                        r.windowSeconds());
        return new Found(best.load, capacity);
    }
}
