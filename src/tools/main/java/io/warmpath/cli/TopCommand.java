package io.warmpath.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.cli.TextTable.Column;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Workers and the latest decisions, drawn anew each second. */
final class TopCommand implements Command {
    private static final String ONCE = "--once";
    private static final Duration BETWEEN_FRAMES = Duration.ofSeconds(1);
    private static final int MOST_PROBLEMS = 4;

    /** From so many columns on, lines have room for what was. */
    private static final int WIDE = 130;

    /** Columns of the end of a request, and of the reason of a decision, at most. */
    private static final int END = 24;

    private static final int REASON = 40;

    private static final List<Column> DECISIONS =
            List.of(
                    Column.text("TIME", Column.STAYS),
                    Column.text("WORKER", Column.STAYS),
                    Column.number("PROMPT", Column.STAYS),
                    Column.number("PREDICTED", Column.STAYS),
                    Column.number("REPORTED", 85),
                    Column.number("TTFT", 70),
                    Column.text("END", 75),
                    Column.text("REQUEST", 95),
                    Column.text("TENANT", 50),
                    Column.text("MODEL", 40),
                    Column.number("COST", 30),
                    Column.text("REASON", 20));

    /** What one frame is made of. */
    record Seen(JsonNode fleet, JsonNode decisions) {}

    @Override
    public String help() {
        return """
        Usage: ./warmpath top [--once] [--json]

        Shows a gateway's workers and its latest decisions, drawn anew each second; q ends it. The
        columns of workers are those of ./warmpath status; `./warmpath why REQUEST` tells more of a
        decision. Where the output is no terminal it is printed once.

          --once             print it once and end
        """;
    }

    @Override
    public Set<String> switches() {
        return Set.of(ONCE);
    }

    @Override
    public int run(Call call) throws Trouble, InterruptedException {
        Surroundings around = call.around();
        boolean once = call.arguments().has(ONCE) || !around.terminal();
        if (call.json()) {
            return json(call, once);
        }
        if (once) {
            Seen seen = look(call.gateway(), around.columns(), around.lines());
            frame(
                            seen,
                            call.gateway().base(),
                            around.columns(),
                            around.lines(),
                            around.colours(),
                            around.clock().instant())
                    .forEach(around.out()::println);
            around.out().flush();
            return 0;
        }
        try (Screen screen = TtyScreen.open(around)) {
            draw(call, screen);
        }
        return 0;
    }

    private static int json(Call call, boolean once) throws Trouble, InterruptedException {
        while (true) {
            call.print(call.gateway().get("/fleet?history=false"));
            if (once) {
                return 0;
            }
            call.around().pause().of(BETWEEN_FRAMES);
        }
    }

    /** Until q. A gateway that does not answer is waited for. */
    static void draw(Call call, Screen screen) throws InterruptedException {
        Surroundings around = call.around();
        while (true) {
            List<String> lines;
            try {
                Seen seen = look(call.gateway(), screen.columns(), screen.lines());
                lines =
                        frame(
                                seen,
                                call.gateway().base(),
                                screen.columns(),
                                screen.lines(),
                                around.colours(),
                                around.clock().instant());
            } catch (Trouble e) {
                Page page = new Page(screen.columns(), around.colours());
                page.text("! ", String.valueOf(e.getMessage()), Tone.BAD);
                page.text("  ", "Asked again each second; q ends it.", Tone.FAINT);
                lines = page.lines();
            }
            screen.show(lines);
            int key = screen.key(BETWEEN_FRAMES);
            if (key == 'q' || key == 'Q') {
                return;
            }
        }
    }

    static Seen look(Gateway gateway, int columns, int lines) throws Trouble {
        return new Seen(
                gateway.get(columns >= WIDE ? "/fleet" : "/fleet?history=false"),
                gateway.get("/router/decisions?detail=false&limit=" + lines));
    }

    /** Not longer than the screen. Workers have up to two thirds of it. */
    static List<String> frame(
            Seen seen, String url, int columns, int lines, boolean colours, Instant now) {
        Verdict verdict = Verdict.of(seen.fleet());
        Page page = new Page(columns, colours);
        FleetView.head(page, seen.fleet(), verdict, url, now);
        FleetView.problems(page, seen.fleet(), verdict, MOST_PROBLEMS);
        page.blank();
        FleetView.workers(
                page, seen.fleet(), Math.max(3, (lines - page.lines().size()) * 2 / 3 - 2));
        page.blank();
        decisions(page, seen.decisions(), lines - page.lines().size() - 1);
        return page.lines().stream().limit(lines).toList();
    }

    private static void decisions(Page page, JsonNode answer, int most) {
        if (!answer.path("enabled").asBoolean()) {
            page.text("", "Decisions are not kept (warmpath.explain.decisions=0).", Tone.FAINT);
            return;
        }
        TextTable table = new TextTable(DECISIONS);
        int rows = 0;
        for (JsonNode d : answer.path("decisions")) {
            if (rows++ >= most) {
                break;
            }
            table.row(decision(d));
        }
        if (table.isEmpty()) {
            page.text("", "No decisions yet.", Tone.FAINT);
        } else {
            page.table(table);
        }
    }

    private static List<Span> decision(JsonNode d) {
        List<Span> row = new ArrayList<>();
        row.add(Span.of(Words.timeOfDay(d.path("time"))));
        row.add(
                Span.of(
                        Words.text(d.path("worker"))
                                + (d.path("dp_rank").asInt() > 0
                                        ? ":" + d.path("dp_rank").asInt()
                                        : "")));
        row.add(Span.of(Words.count(d.path("prompt_tokens"))));
        JsonNode predicted = d.path("predicted_cached_tokens");
        JsonNode reported = d.path("reported_cached_tokens");
        row.add(Span.of(Words.count(predicted)));
        row.add(
                new Span(
                        Words.count(reported),
                        reported.isNumber()
                                        && predicted.isNumber()
                                        && reported.asLong() != predicted.asLong()
                                ? Tone.WARNING
                                : Tone.PLAIN));
        row.add(Span.of(Words.millis(d.path("ttft_ms"))));
        row.add(WhyCommand.outcome(d).cut(END));
        row.add(Span.of(Words.text(d.path("request_id"))));
        row.add(Span.of(Words.text(d.path("tenant"))));
        row.add(Span.of(Words.text(d.path("model"))));
        row.add(Span.of(Words.number(d.path("cost"))));
        row.add(Span.of(Words.text(d.path("reason"))).cut(REASON));
        return row;
    }
}
