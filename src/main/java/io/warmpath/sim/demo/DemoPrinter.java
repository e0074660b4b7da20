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

    /** One column for each run; the change is from the first to the last. */
    void comparison(List<String> names, List<Score> scores) {
        say("");
        row("", names, "");
        row(
                "mean time to first token",
                scores.stream().map(s -> millis(s.meanTtft())).toList(),
                change(scores.getFirst().meanTtft(), scores.getLast().meanTtft()));
        row(
                "95th percentile",
                scores.stream().map(s -> millis(s.p95Ttft())).toList(),
                change(scores.getFirst().p95Ttft(), scores.getLast().p95Ttft()));
        row(
                "prompt tokens from cache",
                scores.stream().map(s -> percent(s.hitRate())).toList(),
                "");
        row("predictions that held", scores.stream().map(DemoPrinter::held).toList(), "");
    }

    /** One row for each play; the first one is what the others are compared with. */
    void agents(List<String> names, List<AgentScore> scores) {
        AgentScore first = scores.getFirst();
        say("");
        say(
                "Agents' turns from the second on (%d of each play), and what others saw:",
                first.turns());
        say("");
        String line = "%-22s %9s %7s %9s %7s %10s %14s";
        say(line, "", "median", "", "p90", "", "from cache", "others' median");
        for (int i = 0; i < scores.size(); i++) {
            AgentScore s = scores.get(i);
            say(
                    line,
                    names.get(i),
                    millis(s.median()),
                    i == 0 ? "" : change(first.median(), s.median()),
                    millis(s.p90()),
                    i == 0 ? "" : change(first.p90(), s.p90()),
                    percent(s.cached()),
                    millis(s.background()));
        }
        say("");
        say("Time to the first token of a lead agent's turn n, median:");
        say("");
        StringBuilder head = new StringBuilder(String.format(Locale.ROOT, "%-22s", ""));
        for (int n = 1; n <= first.lead().size(); n++) {
            head.append(String.format(Locale.ROOT, " %9d", n));
        }
        say("%s", head);
        for (int i = 0; i < scores.size(); i++) {
            StringBuilder row =
                    new StringBuilder(String.format(Locale.ROOT, "%-22s", names.get(i)));
            scores.get(i)
                    .lead()
                    .forEach(d -> row.append(String.format(Locale.ROOT, " %9s", millis(d))));
            say("%s", row);
        }
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

    private void row(String what, List<String> columns, String change) {
        StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%-28s", what));
        columns.forEach(c -> line.append(String.format(Locale.ROOT, " %14s", c)));
        say("%s %9s", line, change);
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
