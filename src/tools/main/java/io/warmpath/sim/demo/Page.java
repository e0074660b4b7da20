package io.warmpath.sim.demo;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.plot.Chart;
import io.warmpath.plot.Svg;
import io.warmpath.plot.Timeline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The demo's result as one page that needs nothing else. One thread, used once. */
final class Page {
    private static final int POINTS = 41;

    private final StringBuilder out;

    Page(String title) {
        out =
                new StringBuilder(
                        plain(
                                """
                                <!doctype html>
                                <html lang="en"><head><meta charset="utf-8"><title>%1$s</title>
                                <style>
                                body{font:14px system-ui,sans-serif;margin:24px;color:#222}
                                h1,p,svg{max-width:1360px}
                                table{border-collapse:collapse;margin:12px 0}
                                th,td{padding:3px 14px 3px 0;text-align:right}
                                th,td{border-bottom:1px solid #ddd}
                                th:first-child,td:first-child{text-align:left}
                                .good{color:#185} .bad{color:#b22}
                                %2$s</style></head><body><h1>%1$s</h1>
                                """,
                                Svg.text(title), Svg.STYLE));
    }

    void say(List<String> lines) {
        out.append("<p>");
        out.append(String.join("<br>\n", lines.stream().map(Svg::text).toList()));
        out.append("</p>\n");
    }

    void verdict(boolean good, List<String> lines) {
        out.append("<div class=\"").append(good ? "good" : "bad").append("\">");
        say(lines);
        out.append("</div>\n");
    }

    void table(DemoTable table) {
        out.append(table.html());
    }

    /** What the turns of each run came to, those of no conversation left out. */
    void charts(List<StageRun> all) {
        List<StageRun> runs =
                all.stream()
                        .map(
                                r ->
                                        new StageRun(
                                                r.name(),
                                                r.engines(),
                                                r.turns().stream()
                                                        .filter(p -> p.turn().conversation() >= 0)
                                                        .toList()))
                        .toList();
        int turns =
                1
                        + runs.stream()
                                .flatMap(r -> r.turns().stream())
                                .mapToInt(p -> p.turn().number())
                                .max()
                                .orElse(0);
        double[] numbers = new double[turns];
        for (int n = 0; n < turns; n++) {
            numbers[n] = n + 1.0;
        }
        double slowest =
                runs.stream().mapToDouble(r -> millis(r.score().p95Ttft())).max().orElse(1);
        double[] within = new double[POINTS];
        for (int i = 0; i < POINTS; i++) {
            within[i] = slowest * i / (POINTS - 1);
        }
        Chart mean = new Chart("time to first token, mean, ms, by number of the turn", numbers);
        Chart share = new Chart("% of turns with a first token within ... ms", within);
        Chart cached = new Chart("% of prompt tokens cached, by number of the turn", numbers);
        for (StageRun run : runs) {
            double[] times = new double[turns];
            double[] hits = new double[turns];
            for (int n = 0; n < turns; n++) {
                int number = n;
                List<Played> of =
                        run.turns().stream().filter(p -> p.turn().number() == number).toList();
                times[n] = of.isEmpty() ? 0 : millis(StageScore.of(of).meanTtft());
                hits[n] = of.isEmpty() ? 0 : 100 * StageScore.of(of).hitRate();
            }
            mean.line(run.name(), times);
            cached.line(run.name(), hits);
            double[] shares = new double[POINTS];
            for (int i = 0; i < POINTS; i++) {
                double limit = within[i];
                long there =
                        run.turns().stream()
                                .filter(p -> millis(p.timeToFirstToken()) <= limit)
                                .count();
                shares[i] = 100.0 * there / run.turns().size();
            }
            share.line(run.name(), shares);
        }
        out.append("<div>").append(mean.svg()).append(share.svg()).append(cached.svg());
        out.append("</div>\n");
    }

    /** What each engine of a run did when: a colour for each conversation. */
    void engines(StageRun run) {
        long begin = run.turns().stream().mapToLong(Played::sent).min().orElse(0);
        double until =
                run.turns().stream()
                        .mapToDouble(p -> seconds(p.sent() - begin + p.took().toNanos()))
                        .max()
                        .orElse(1);
        Timeline timeline = new Timeline(run.name(), Math.ceil(until));
        for (int n = 0; n < run.engines(); n++) {
            String name = "w" + n;
            List<Timeline.Bar> bars = new ArrayList<>();
            for (Played p : run.turns()) {
                if (p.worker().equals(name)) {
                    double from = seconds(p.sent() - begin);
                    bars.add(
                            new Timeline.Bar(
                                    from,
                                    from + seconds(p.timeToFirstToken().toNanos()),
                                    from + seconds(p.took().toNanos()),
                                    p.turn().conversation(),
                                    label(p)));
                }
            }
            timeline.row(name, bars);
        }
        out.append(timeline.svg()).append('\n');
    }

    private static String label(Played p) {
        return plain(
                "conversation %d, turn %d: %d of %d tokens cached, first token after %s",
                p.turn().conversation() + 1,
                p.turn().number() + 1,
                p.reportedTokens(),
                p.promptTokens(),
                StageRun.millis(p.timeToFirstToken()));
    }

    void write(Path file) throws IOException {
        out.append("</body></html>\n");
        Files.writeString(file, out);
    }

    private static double millis(Duration d) {
        return d.toNanos() / 1e6;
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }
}
