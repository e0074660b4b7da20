package io.warmpath.sim.demo;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Everything the demo shows, in plain aligned text. */
final class DemoPrinter {
    private static final String LINE = "%5s %5s  %-22s %7s %6s %6s %10s %9s   %9s%n";

    private final PrintStream out;

    DemoPrinter(PrintStream out) {
        this.out = out;
    }

    void say(String text, Object... args) {
        out.printf(Locale.ROOT, text + "%n", args);
        out.flush();
    }

    void heading() {
        say("");
        out.printf(
                LINE,
                "conv",
                "turn",
                "worker",
                "prompt",
                "gpu",
                "host",
                "predicted",
                "reported",
                "first");
        out.printf(LINE, "", "", "", "tokens", "blocks", "blocks", "cached", "cached", "token");
    }

    void turn(Played p) {
        out.printf(
                LINE,
                p.turn().conversation() + 1,
                p.turn().number() + 1,
                p.worker(),
                p.promptTokens(),
                p.gpuBlocks(),
                p.hostBlocks(),
                p.predictedTokens() < 0 ? "?" : p.predictedTokens(),
                p.reportedTokens() + (p.asPredicted() ? " =" : " !"),
                millis(p.timeToFirstToken()));
        out.flush();
    }

    void comparison(Score kv, Score roundRobin) {
        say("");
        row("", "round-robin", "kv", "");
        row(
                "mean time to first token",
                millis(roundRobin.meanTtft()),
                millis(kv.meanTtft()),
                change(roundRobin.meanTtft(), kv.meanTtft()));
        row(
                "95th percentile",
                millis(roundRobin.p95Ttft()),
                millis(kv.p95Ttft()),
                change(roundRobin.p95Ttft(), kv.p95Ttft()));
        row("prompt tokens from cache", percent(roundRobin.hitRate()), percent(kv.hitRate()), "");
        row("predictions that held", held(roundRobin), held(kv), "");
    }

    void differences(String mode, List<Played> run) {
        run.stream()
                .filter(p -> !p.asPredicted())
                .forEach(
                        p ->
                                say(
                                        "%s: conversation %d, turn %d on %s: predicted %d cached"
                                                + " tokens, the engine reported %d",
                                        mode,
                                        p.turn().conversation() + 1,
                                        p.turn().number() + 1,
                                        p.worker(),
                                        p.predictedTokens(),
                                        p.reportedTokens()));
    }

    private void row(String what, String left, String right, String change) {
        say("%-28s %14s %14s %9s", what, left, right, change);
    }

    private static String held(Score s) {
        return s.asPredicted() + " of " + s.turns();
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", share * 100);
    }

    private static String millis(Duration d) {
        return String.format(Locale.ROOT, "%.0f ms", d.toNanos() / 1e6);
    }

    private static String change(Duration from, Duration to) {
        return String.format(Locale.ROOT, "%+.0f %%", 100.0 * to.toNanos() / from.toNanos() - 100);
    }
}
