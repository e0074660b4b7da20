package io.warmpath.sim.demo;

import static io.warmpath.plot.Plain.plain;

import java.util.ArrayList;
import java.util.List;

/** Whether a demo showed what it is there to show. One thread. */
final class DemoVerdict {
    /**
     * Of all prompt tokens, by which more have to come from caches: well above what chance does.
     */
    private static final double GAIN = 0.05;

    /** Of its fair share, what the idlest engine must have had. */
    private static final double LEAST_SHARE = 0.25;

    /** Of all predictions, how many may be overtaken by what happened meanwhile. */
    private static final double OVERTAKEN = 0.1;

    private final DemoClock pace;
    private final List<String> problems = new ArrayList<>();

    /** {@code pace}: of the play; times are judged only when it was kept. */
    DemoVerdict(DemoClock pace) {
        this.pace = pace;
    }

    /** More from caches, and first tokens sooner on average. */
    void gains(StageRun run, StageRun against) {
        findsMore(run, against);
        StageScore s = run.score();
        StageScore other = against.score();
        if (pace.kept() && s.meanTtft().compareTo(other.meanTtft()) >= 0) {
            problems.add(
                    plain(
                            "%s: the first token came after %s on average, with %s after %s: no"
                                    + " gain",
                            run.name(),
                            StageRun.millis(s.meanTtft()),
                            against.name(),
                            StageRun.millis(other.meanTtft())));
        }
    }

    void findsMore(StageRun run, StageRun against) {
        double cached = run.score().hitRate();
        double before = against.score().hitRate();
        if (cached < before + GAIN) {
            problems.add(
                    plain(
                            "%s: %.1f %% of the prompts' tokens were cached, with %s %.1f %%; the"
                                    + " gain must be %.0f points",
                            run.name(), 100 * cached, against.name(), 100 * before, 100 * GAIN));
        }
    }

    void allEnginesWork(StageRun run) {
        List<Integer> turns = run.byEngine();
        double least = LEAST_SHARE * run.turns().size() / run.engines();
        for (int n = 0; n < turns.size(); n++) {
            if (turns.get(n) < least) {
                problems.add(
                        plain(
                                "%s: engine w%d had %d of %d turns",
                                run.name(), n, turns.get(n), run.turns().size()));
            }
        }
    }

    void predicted(StageRun run, Predictions predictions) {
        for (Played p : predictions.wrong()) {
            problems.add(
                    plain(
                            "%s: chat %d, turn %d on %s: predicted %d cached tokens, the engine"
                                    + " reported %d",
                            run.name(),
                            p.turn().conversation() + 1,
                            p.turn().number() + 1,
                            p.worker(),
                            p.predictedTokens(),
                            p.reportedTokens()));
        }
        if (predictions.overtaken().size() > OVERTAKEN * predictions.turns()) {
            problems.add(
                    plain(
                            "%s: only %d of %d predictions could be compared",
                            run.name(), predictions.equal(), predictions.turns()));
        }
    }

    /** What the times are worth; empty: what they say. */
    String remark() {
        return pace.kept()
                ? ""
                : plain(
                        "This machine was busy: who had to be woken was woken %.1f ms late. Times"
                                + " were not judged.",
                        pace.late().toNanos() / 1e6);
    }

    /** Empty: all is well. */
    List<String> problems() {
        return List.copyOf(problems);
    }
}
