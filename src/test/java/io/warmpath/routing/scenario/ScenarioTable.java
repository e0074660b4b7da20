package io.warmpath.routing.scenario;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Prints every scenario, or those that are named, under every rule, one number per seed: the table
 * of src/perf/RESULTS.md.
 */
final class ScenarioTable {
    private static final long[] SEEDS = {1, 2, 3};
    private static final Measure BUSIEST =
            new Measure(
                    "busiest worker's share, %",
                    o -> 100.0 * Arrays.stream(o.spread()).max().orElseThrow() / o.total());
    private static final Measure FIRST = new Measure("first token, ms", Outcome::meanFirst);
    private static final Measure ANSWER = new Measure("whole answer, ms", Outcome::meanAnswer);
    private static final Measure P99 = new Measure("first token, 99th of 100", Outcome::p99First);
    private static final Measure HITS = new Measure("cache hits, %", o -> 100 * o.hitRate());

    /** Parts of the names of scenarios that are wanted; empty: all. */
    private final List<String> wanted;

    private ScenarioTable(List<String> wanted) {
        this.wanted = wanted;
    }

    public static void main(String[] args) {
        new ScenarioTable(List.of(args)).print();
    }

    private void print() {
        String rules = Setting.TABLE.stream().map(Setting::name).collect(Collectors.joining(" | "));
        System.out.println("| scenario | naive rule | measure | naive | " + rules + " |");
        System.out.println("|---|---|---|---|" + "---|".repeat(Setting.TABLE.size()));
        rows("equal scores", Scenarios::equalScores, Naive.FIRST_OF_EQUALS, BUSIEST);
        rows(
                "idle, faster than the priors",
                Scenarios::fasterThanThought,
                Naive.FIRST_OF_EQUALS,
                BUSIEST);
        rows(
                "idle, one twice as fast",
                Scenarios::idleUnequal,
                Setting.ROUND_ROBIN,
                new Measure("fast worker's share, %", o -> 100 * o.share(0)),
                FIRST);
        rows("idle, documents", Scenarios::idleDocuments, Naive.FIRST_OF_EQUALS, HITS, FIRST);
        rows("32k in, 1 out", Scenarios::bursts, Naive.COUNTED_AT_FIRST_TOKEN, BUSIEST, FIRST);
        rows(
                "one system prompt",
                Scenarios::systemPrompt,
                Naive.LONGEST_PREFIX,
                BUSIEST,
                FIRST,
                ANSWER);
        rows(
                "a new worker",
                Scenarios::newWorker,
                Naive.LONGEST_PREFIX,
                new Measure("requests before its first", o -> o.before(4)),
                new Measure("first token, ms, in the first 5 s", o -> first5(o).meanFirst()),
                new Measure("first token, ms, later", o -> later(o).meanFirst()),
                ANSWER);
        rows(
                "4 times as fast",
                Scenarios::unequalWorkers,
                Setting.ROUND_ROBIN,
                new Measure("slow worker's share, %", o -> 100 * o.share(1)),
                FIRST,
                ANSWER);
        rows("imbalance", Scenarios::imbalance, Naive.DROPS_AFFINITY, HITS, FIRST, ANSWER);
        rows(
                "a stuck worker",
                Scenarios::stuckWorker,
                Naive.SMALLEST_TREE,
                new Measure("sent there since", o -> stuck(o, 0)),
                new Measure("of them after 10 s", o -> stuck(o, 10_000)));
        rows("26 % shared", Scenarios::quarterShared, Naive.LONGEST_PREFIX, FIRST, P99, ANSWER);
    }

    static Outcome first5(Outcome newWorker) {
        return newWorker.only(r -> r.sentMillis() < Scenarios.JOIN_MILLIS + 5_000);
    }

    static Outcome later(Outcome newWorker) {
        return newWorker.sentSince(Scenarios.JOIN_MILLIS + 5_000);
    }

    /** Requests sent to the stuck worker this long after it stopped. */
    static int stuck(Outcome stuckWorker, double millis) {
        return stuckWorker.sentSince(Scenarios.STUCK_MILLIS + millis).spread()[1];
    }

    private void rows(String name, Scenario scenario, Setting control, Measure... all) {
        if (!wanted.isEmpty() && wanted.stream().noneMatch(name::contains)) {
            return;
        }
        List<Setting> settings = new ArrayList<>();
        settings.add(control);
        settings.addAll(Setting.TABLE);
        List<List<Outcome>> outcomes = new ArrayList<>();
        for (Setting setting : settings) {
            outcomes.add(Arrays.stream(SEEDS).mapToObj(s -> scenario.play(setting, s)).toList());
        }
        for (Measure measure : all) {
            String cells = outcomes.stream().map(measure::cell).collect(Collectors.joining(" | "));
            System.out.printf(
                    "| %s | %s | %s | %s |%n", name, control.name(), measure.name(), cells);
        }
    }

    /** Plays a workload under a rule. */
    @FunctionalInterface
    interface Scenario {
        Outcome play(Setting setting, long seed);
    }

    private record Measure(String name, ToDoubleFunction<Outcome> of) {
        String cell(List<Outcome> seeds) {
            return seeds.stream()
                    .map(o -> String.format(Locale.ROOT, "%,.0f", of.applyAsDouble(o)))
                    .collect(Collectors.joining(" / "));
        }
    }
}
