package io.warmpath.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.workload.Scenario;
import io.warmpath.lab.workload.Scenarios;
import io.warmpath.lab.workload.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The default cost against the best of all other rules, in every cell: engine by scenario by load,
 * seed 1. Loads of other engines than the scenario's own are 0.7 and 0.9 of what these can do. A
 * figure may be 1.05 of the best one; where it is not, the table has the limit of that figure, and
 * src/perf/RESULTS.md says why. Others' figures stand in the table; some are played again here.
 */
@Tag("slow")
@Tag("long") // in verify alone
class GatesTest {
    private static final Path TABLE = Path.of("src/test/resources/lab/gates.csv");
    private static final String OWN = "8b";
    private static final int FIGURES = 4;
    private static final List<String> OTHERS =
            List.of(
                    "kv",
                    "least-loaded",
                    "round-robin",
                    "dynamo",
                    "agentic",
                    "lmetric",
                    "smg",
                    "llm-d",
                    "llm-d-guide",
                    "preble",
                    "seed-002");

    /**
     * @param engine {@code 8b}: the scenario's own; else a file beside the table
     * @param best of each figure among the others: mean and p99 of TTFT, of the whole answer
     * @param by whose that is
     * @param limit ratio that ours may have
     * @param peer mean TTFT of the best rule of other routers
     */
    private record Gate(
            String engine,
            Scenario scenario,
            double load,
            double[] best,
            List<String> by,
            double[] limit,
            double peer) {

        static Gate read(String line) {
            String[] words = line.split(",", -1);
            String engine = words[0];
            Scenario scenario = Scenarios.find(words[1]).orElseThrow();
            if (!engine.equals(OWN)) {
                Path file = TABLE.resolveSibling("engines/" + engine + ".yaml");
                scenario = scenario.withModel(EngineFile.read(file));
            }
            double[] best = new double[FIGURES];
            double[] limit = new double[FIGURES];
            List<String> by = new ArrayList<>();
            for (int i = 0; i < FIGURES; i++) {
                best[i] = Double.parseDouble(words[3 + 3 * i]);
                by.add(words[4 + 3 * i]);
                limit[i] = Double.parseDouble(words[5 + 3 * i]);
            }
            return new Gate(
                    engine,
                    scenario,
                    Double.parseDouble(words[2]),
                    best,
                    by,
                    limit,
                    Double.parseDouble(words[3 + 3 * FIGURES]));
        }

        String name() {
            return engine + ", " + scenario.name() + " at " + load;
        }
    }

    private String drawn = "";
    private @Nullable Workload workload;

    private static List<Gate> gates() throws IOException {
        List<String> lines = Files.readAllLines(TABLE);
        return lines.subList(1, lines.size()).stream().map(Gate::read).toList();
    }

    private double[] play(Gate gate, String policy) {
        PolicyCatalog.Named named = PolicyCatalog.find(policy).orElseThrow();
        if (!gate.scenario().name().equals(drawn)) { // gates of a scenario follow each other
            drawn = gate.scenario().name();
            workload = gate.scenario().draw().apply(1);
        }
        Result r =
                CellRun.play(
                        new Cell(gate.scenario(), named, gate.load(), 1),
                        Objects.requireNonNull(workload),
                        LabMainTest.NATIVE);
        return new double[] {r.ttft().mean(), r.ttft().p99(), r.e2e().mean(), r.e2e().p99()};
    }

    @Test
    void no_cell_is_worse_than_its_limit() throws IOException {
        List<String> worse = new ArrayList<>();
        Map<Double, double[]> logs = new HashMap<>();
        Map<Boolean, Integer> within = new HashMap<>();
        for (Gate gate : gates()) {
            boolean own = gate.engine().equals(OWN);
            double[] ours = play(gate, "latency");
            for (int i = 0; i < FIGURES; i++) {
                double ratio = ours[i] / gate.best()[i];
                within.merge(own, ratio <= 1.05 ? 1 : 0, Integer::sum);
                if (!(ratio <= gate.limit()[i])) {
                    worse.add(
                            gate.name()
                                    + ", figure "
                                    + i
                                    + ": "
                                    + ratio
                                    + " of "
                                    + gate.by().get(i)
                                    + ", at most "
                                    + gate.limit()[i]);
                }
            }
            if (!own) {
                continue;
            }
            double[] sum = logs.computeIfAbsent(gate.load(), l -> new double[2]);
            sum[0] += Math.log(ours[0] / gate.peer());
            sum[1]++;
        }
        assertEquals(List.of(), worse);
        String told = "figures within 1.05 of the best, of 352 (true) and 120: " + within;
        assertTrue(within.get(true) >= 306 && within.get(false) >= 106, told);
        assertTrue(mean(logs.get(0.7)) < 0.95, "at 0.7 " + mean(logs.get(0.7)));
        assertTrue(mean(logs.get(0.9)) < 0.88, "at 0.9 " + mean(logs.get(0.9)));
    }

    private static double mean(double[] logs) {
        return Math.exp(logs[0] / logs[1]);
    }

    /** The control of the limits, and of the table: what stands there is what the others do. */
    @ParameterizedTest
    @CsvSource({
        "8b, few-talks, 0.5",
        "8b, new-worker, 1",
        "8b, unequal, 1",
        "8b, eval, 0.5",
        "quarter-kv, agent, 0.22"
    })
    void the_table_has_what_the_others_do(String engine, String scenario, double load)
            throws IOException {
        Gate gate =
                gates().stream()
                        .filter(g -> g.engine().equals(engine))
                        .filter(g -> g.scenario().name().equals(scenario) && g.load() == load)
                        .findFirst()
                        .orElseThrow();
        double[] best = new double[FIGURES];
        Arrays.fill(best, Double.POSITIVE_INFINITY);
        boolean worse = false;
        for (String other : OTHERS) {
            double[] theirs = play(gate, other);
            for (int i = 0; i < FIGURES; i++) {
                best[i] = Math.min(best[i], theirs[i]);
                worse |= theirs[i] > gate.limit()[i] * gate.best()[i];
            }
        }
        for (int i = 0; i < FIGURES; i++) {
            assertEquals(gate.best()[i], best[i], 0.02 * best[i], gate.name() + ", figure " + i);
        }
        assertTrue(worse, "every rule keeps the limits of " + gate.name());
    }

    /** After a minute of traffic, which the counted part comes after. */
    @ParameterizedTest
    @ValueSource(strings = {"latency-priors=0.1", "latency-priors=10"})
    void priors_that_are_wrong_by_ten_cost_a_tenth_at_most(String wrong) throws IOException {
        for (Gate gate : gates()) {
            if (gate.engine().equals(OWN)
                    && List.of("chat", "agent", "noshare").contains(gate.scenario().name())) {
                double ratio = play(gate, wrong)[0] / play(gate, "latency")[0];
                assertTrue(ratio < 1.1, gate.name() + ", " + wrong + ": " + ratio);
            }
        }
    }
}
