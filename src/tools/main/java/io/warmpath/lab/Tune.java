package io.warmpath.lab;

import io.warmpath.lab.policy.Indexes;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.tune.Dials;
import io.warmpath.lab.tune.Search;
import io.warmpath.lab.tune.Settings;
import io.warmpath.lab.workload.Parts;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Workload;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.rates.LatencyPriors;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Searches weights on the first conversations of the workloads, then plays the rest with them and
 * beside them. One thread, used once; equal flags give equal reports. A cell is a scenario, a load
 * and a seed. Training has seeds 1 to N, the held-back part the N after them; each seed is another
 * draw of four fifths of the conversations, at the rate of all.
 */
final class Tune {
    /** What to make small. */
    enum Goal {
        TTFT("mean TTFT"),
        P99("p99 TTFT"),
        E2E("mean E2E");

        final String words;

        Goal(String words) {
            this.words = words;
        }

        double of(Result r) {
            return switch (this) {
                case TTFT -> r.ttft().mean();
                case P99 -> r.ttft().p99();
                case E2E -> r.e2e().mean();
            };
        }
    }

    private static final String TUNED = "tuned";

    private static final long SEARCH_SEED = 0x74756e65L;

    private final LabFlags flags;
    private final Indexes indexes;
    private final Progress progress;
    private final Dials dials;
    private final LatencyPriors priors;
    private final List<Cell> cells = new ArrayList<>();
    private final double[] starts;
    private final Map<String, SoftReference<Workload>> drawn = new HashMap<>();
    private int played;
    private final int all;

    /**
     * @param results of the held-back part: what was found, then what it is compared with
     * @param have the cost that was tuned, as it is when none of its keys is set
     * @param snippets the configuration of each of these policies, as YAML
     * @param training mean logarithm of the ratio to it, on the training part
     * @param plays of the search
     * @param blockTokens that weights in blocks are about
     */
    record Outcome(
            List<Result> results,
            String have,
            Map<String, String> snippets,
            double training,
            int plays,
            int blockTokens) {}

    Tune(LabFlags flags, Indexes indexes, Progress progress) {
        this.flags = flags;
        this.indexes = indexes;
        this.progress = progress;
        Scenario first = flags.scenarios.getFirst();
        for (Scenario s : flags.scenarios) {
            if (!s.model().equals(first.model())
                    || (s.hostFactor() > 0) != first.hostFactor() > 0) {
                throw new IllegalArgumentException(
                        "%s and %s have other engines; tune one kind at a time"
                                .formatted(first.name(), s.name()));
            }
        }
        priors = PolicyCatalog.priors(first.model());
        dials =
                flags.tuned.equals("kv")
                        ? Dials.blocks(first.hostFactor() > 0)
                        : Dials.latency(priors);
        for (int seed = 1; seed <= flags.seeds; seed++) {
            cells.addAll(cells(seed));
        }
        starts = new double[cells.size()];
        all = flags.budget + cells.size() * (2 + policies().size());
    }

    private List<Cell> cells(int seed) {
        List<Cell> of = new ArrayList<>();
        for (Scenario s : flags.scenarios) {
            for (double load : flags.loads) {
                of.add(
                        new Cell(
                                s,
                                have(),
                                load,
                                seed,
                                flags.lagMillis,
                                flags.replicas(),
                                flags.onePiece));
            }
        }
        return of;
    }

    private PolicyCatalog.Named have() {
        return PolicyCatalog.find(flags.tuned).orElseThrow();
    }

    private List<PolicyCatalog.Named> policies() {
        List<PolicyCatalog.Named> of = new ArrayList<>(List.of(have()));
        for (String name : List.of("kv", "agentic", "latency")) {
            if (!name.equals(flags.tuned)) {
                of.add(PolicyCatalog.find(name).orElseThrow());
            }
        }
        return of;
    }

    /** Weights in blocks mean something for blocks of one size only. */
    private int blockTokens() {
        int first = workload(cells.getFirst(), true).blockTokens();
        for (Cell c : cells.subList(0, flags.scenarios.size() * flags.loads.length)) {
            int tokens = workload(c, true).blockTokens();
            if (tokens != first && flags.tuned.equals("kv")) {
                throw new IllegalArgumentException(
                        ("%s has blocks of %s tokens and %s of %s; weights in blocks belong"
                                        + " to one size")
                                .formatted(
                                        cells.getFirst().scenario().name(),
                                        first,
                                        c.scenario().name(),
                                        tokens));
            }
        }
        return first;
    }

    Outcome run() {
        int blockTokens = blockTokens();
        for (int i = 0; i < starts.length; i++) {
            starts[i] = Math.log(flags.goal.of(play(cells.get(i), have(), true)));
        }
        Search.Found found =
                new Search(
                                rungs(),
                                flags.budget,
                                new SplittableRandom(SEARCH_SEED),
                                (point, cell) -> {
                                    PolicyCatalog.Named tried = tuned(point);
                                    Result r = play(cells.get(cell), tried, true);
                                    return Math.log(flags.goal.of(r)) - starts[cell];
                                })
                        .run(dials.start());
        played = all - cells.size() * (1 + policies().size());
        List<Result> held = new ArrayList<>();
        List<PolicyCatalog.Named> compared = new ArrayList<>(List.of(tuned(found.point())));
        compared.addAll(policies());
        for (PolicyCatalog.Named p : compared) {
            for (int seed = flags.seeds + 1; seed <= 2 * flags.seeds; seed++) {
                for (Cell c : cells(seed)) {
                    held.add(play(c, p, false));
                }
            }
        }
        progress.show(all, all, "");
        return new Outcome(
                held,
                have().name(),
                snippets(found.point()),
                found.score(),
                found.plays(),
                blockTokens);
    }

    private Map<String, String> snippets(double[] found) {
        return Map.of(
                TUNED,
                dials.settings(found).yaml(),
                "kv",
                Settings.of(CostKind.BLOCKS).yaml(),
                "agentic",
                Settings.agentic().yaml(),
                "latency",
                Settings.of(priors).yaml());
    }

    /** One seed, then twice as many, up to all. */
    private int[] rungs() {
        int each = flags.scenarios.size() * flags.loads.length;
        int[] of = new int[32];
        int n = 0;
        for (int seeds = 1; seeds < flags.seeds; seeds *= 2) {
            of[n++] = seeds * each;
        }
        of[n++] = flags.seeds * each;
        return Arrays.copyOf(of, n);
    }

    private PolicyCatalog.Named tuned(double[] point) {
        return PolicyCatalog.ours(TUNED, dials.options(point));
    }

    private Result play(Cell c, PolicyCatalog.Named policy, boolean training) {
        progress.show(played++, all, (training ? "training " : "held back ") + c.scenario().name());
        Workload workload = workload(c, training);
        Scenario part = c.scenario().withDraw(1 / Parts.KEPT, s -> workload);
        return CellRun.play(
                new Cell(
                        part,
                        policy,
                        c.load(),
                        c.seed(),
                        c.lagMillis(),
                        c.replicas(),
                        c.onePiece()),
                workload,
                indexes);
    }

    /** Drawn again when memory was needed for something else. */
    private Workload workload(Cell c, boolean training) {
        String key = c.scenario().name() + " " + c.seed() + " " + training;
        SoftReference<Workload> known = drawn.get(key);
        Workload workload = known == null ? null : known.get();
        if (workload == null) {
            Workload whole = c.scenario().draw().apply(c.seed());
            workload =
                    Parts.thinned(
                            training
                                    ? Parts.first(whole, flags.train)
                                    : Parts.rest(whole, flags.train),
                            c.seed());
            drawn.put(key, new SoftReference<>(workload));
        }
        return workload;
    }
}
