package io.warmpath.sim.demo;

import static io.warmpath.plot.Plain.plain;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What one stage did with the workload.
 *
 * @param name of the stage
 * @param engines how many it has
 * @param turns in the order in which they were sent
 */
record StageRun(String name, int engines, List<Played> turns) {
    StageScore score() {
        return StageScore.of(turns);
    }

    /** Turns of engine n, by n. The gateway names workers by the order of its flags. */
    List<Integer> byEngine() {
        return IntStream.range(0, engines)
                .map(n -> (int) turns.stream().filter(p -> p.worker().equals("w" + n)).count())
                .boxed()
                .toList();
    }

    /** A row for each run; the times of all but the first with their change against it. */
    static DemoTable comparison(List<StageRun> runs) {
        StageScore first = runs.getFirst().score();
        List<List<String>> rows = new ArrayList<>();
        for (StageRun run : runs) {
            StageScore s = run.score();
            rows.add(
                    List.of(
                            run.name(),
                            percent(s.hitRate()),
                            time(s.meanTtft(), first.meanTtft()),
                            time(s.p50Ttft(), first.p50Ttft()),
                            time(s.p95Ttft(), first.p95Ttft())));
        }
        return new DemoTable(List.of("first token after", "cached", "mean", "median", "p95"), rows);
    }

    /** Each engine's part of the turns. */
    static DemoTable shares(List<StageRun> runs) {
        List<String> head = new ArrayList<>(List.of("turns on engine"));
        IntStream.range(0, runs.getFirst().engines()).forEach(n -> head.add("w" + n));
        List<List<String>> rows = new ArrayList<>();
        for (StageRun run : runs) {
            List<String> row = new ArrayList<>(List.of(run.name()));
            for (int turns : run.byEngine()) {
                row.add(plain("%.0f %%", 100.0 * turns / run.turns().size()));
            }
            rows.add(row);
        }
        return new DemoTable(head, rows);
    }

    static String percent(double share) {
        return plain("%.1f %%", share * 100);
    }

    static String millis(Duration d) {
        return plain("%.0f ms", d.toNanos() / 1e6);
    }

    /** With the change against another one, unless it is that one. */
    static String time(Duration d, Duration from) {
        return d.equals(from)
                ? millis(d)
                : plain("%s %+4.0f %%", millis(d), 100.0 * d.toNanos() / from.toNanos() - 100);
    }
}
