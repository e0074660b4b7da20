package io.warmpath.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.warmpath.cli.TextTable.Column;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The answer of {@code GET /fleet} for people: a head, and a line for each rank. Stateless. */
final class FleetView {
    /** How many of the last steps of its history a worker's line shows. */
    private static final int STEPS = 30;

    private static final String BARS = "▁▂▃▄▅▆▇█";

    private static final List<Column> COLUMNS =
            List.of(
                    Column.text("WORKER", Column.STAYS),
                    Column.text("STATE", Column.STAYS),
                    Column.text("ROLE", 85),
                    Column.number("RUN", Column.STAYS),
                    Column.number("WAIT", 50),
                    Column.number("PREFILL", 45),
                    Column.number("KV", 65),
                    Column.number("REQ/5M", 60),
                    Column.number("HIT", 70),
                    Column.number("TTFT", 80),
                    Column.text("EVENTS", 75),
                    Column.number("RIGHT", 40),
                    Column.number("GPU", 30),
                    Column.number("HOST", 29),
                    Column.number("DISK", 28),
                    Column.text("REQUESTS, LAST 5 MIN", 20),
                    Column.text("VERSION", 10));

    private FleetView() {}

    /** What the gateway is, and how it does. */
    static void head(Page page, JsonNode fleet, Verdict verdict, String url, Instant now) {
        JsonNode g = fleet.path("gateway");
        List<Span> is = new ArrayList<>();
        is.add(new Span("Warmpath " + Words.text(g.path("version")), Tone.STRONG));
        is.add(Span.of(url));
        String cost = g.hasNonNull("cost") ? ", cost " + Words.text(g.path("cost")) : "";
        is.add(Span.of("mode " + Words.text(g.path("mode")) + cost));
        is.add(Span.of("up " + Words.since(g.path("started"), now)));
        is.add(Span.of(Words.timeOfDay(now) + " UTC"));
        page.spans(is);
        List<Span> does = new ArrayList<>();
        does.add(verdict.level().span());
        does.add(Span.of(workers(fleet.path("workers"))));
        does.add(Span.of(Words.rate(g.path("requests_per_s")) + " requests/s"));
        does.add(Span.of("hit rate " + Words.percent(g.path("hit_rate"))));
        does.add(Span.of("TTFT " + Words.millis(g.path("ttft_ms"))));
        does.add(Span.of(Words.count(g.path("active")) + " running"));
        does.add(Span.of(Words.count(g.path("queued")) + " queued"));
        page.spans(does);
    }

    private static String workers(JsonNode workers) {
        int ready = 0;
        for (JsonNode worker : workers) {
            ready += isReady(worker) ? 1 : 0;
        }
        return ready
                + " of "
                + workers.size()
                + (workers.size() == 1 ? " worker" : " workers")
                + " ready";
    }

    private static boolean isReady(JsonNode worker) {
        return worker.path("state").asText().equals("ready") && !Verdict.isDrained(worker);
    }

    /** What is not well, and who is drained: a sentence each; the rest is counted. */
    static void problems(Page page, JsonNode fleet, Verdict verdict, int most) {
        int left = most;
        for (String sentence : verdict.sentences()) {
            if (left-- > 0) {
                page.text("! ", sentence, Tone.WARNING);
            }
        }
        for (JsonNode worker : fleet.path("workers")) {
            if (Verdict.isDrained(worker) && left-- > 0) {
                String reason = worker.path("problem").asText();
                page.text(
                        "- ",
                        worker.path("name").asText()
                                + (reason.isEmpty() ? " is drained." : ": " + reason),
                        Tone.FAINT);
            }
        }
        if (left < 0) {
            page.text("! ", -left + " more like these.", Tone.WARNING);
        }
    }

    /**
     * A line for each rank, those of workers that are not well first, then by name; the rest is
     * counted in a line. {@code most}: lines, without head and last line.
     */
    static void workers(Page page, JsonNode fleet, int most) {
        List<JsonNode> workers = new ArrayList<>();
        fleet.path("workers").forEach(workers::add);
        workers.sort(
                Comparator.comparing(FleetView::hasTrouble)
                        .reversed()
                        .thenComparing(w -> w.path("name").asText()));
        TextTable table = new TextTable(COLUMNS);
        int left = most;
        int leftOut = 0;
        for (JsonNode worker : workers) {
            int ranks = Math.max(1, worker.path("ranks").size());
            if (ranks > left) {
                leftOut++;
                continue;
            }
            left -= ranks;
            for (int i = 0; i < ranks; i++) {
                table.row(row(worker, worker.path("ranks").path(i), i == 0, ranks > 1));
            }
        }
        if (!table.isEmpty()) {
            page.table(table);
        }
        if (leftOut > 0) {
            page.text(
                    "  ",
                    "... and "
                            + leftOut
                            + " more workers; all with --all, or in a taller terminal.",
                    Tone.FAINT);
        }
    }

    private static boolean hasTrouble(JsonNode worker) {
        boolean trouble = !Verdict.isWell(worker);
        for (JsonNode rank : worker.path("ranks")) {
            trouble |= Verdict.eventsLost(rank);
        }
        return trouble;
    }

    private static List<Span> row(JsonNode w, JsonNode rank, boolean first, boolean several) {
        // What is known of the worker as a whole stands in its first line.
        JsonNode worker = first ? w : MissingNode.getInstance();
        String name =
                Words.text(w.path("name")) + (several ? ":" + rank.path("dp_rank").asInt(0) : "");
        JsonNode engine = rank.path("engine");
        JsonNode tiers = rank.path("tiers");
        return List.of(
                Span.of(name),
                state(w),
                Span.of(role(w)),
                Span.of(Words.count(rank.path("running"))),
                Span.of(Words.count(engine.path("waiting"))),
                Span.of(Words.count(rank.path("prefill_tokens"))),
                Span.of(kv(rank)),
                Span.of(blank(first, Words.count(worker.path("requests")))),
                Span.of(blank(first, Words.percent(worker.path("hit_rate")))),
                Span.of(blank(first, Words.millis(worker.path("ttft_ms")))),
                new Span(
                        Words.text(rank.path("events").path("state")),
                        Verdict.eventsLost(rank) ? Tone.BAD : Tone.PLAIN),
                Span.of(blank(first, right(worker.path("prediction")))),
                Span.of(Words.count(tiers.path("gpu_blocks"))),
                Span.of(Words.count(tiers.path("host_blocks"))),
                Span.of(Words.count(tiers.path("disk_blocks"))),
                Span.of(sparkline(worker.path("history").path("requests"))),
                Span.of(blank(first, version(worker))));
    }

    /** Of a worker that does a part of requests, or none. */
    private static String role(JsonNode worker) {
        String role = Words.text(worker.path("role"));
        return role.equals("both") ? Words.NONE : role;
    }

    private static String version(JsonNode worker) {
        return worker.hasNonNull("kind")
                ? Words.text(worker.path("kind")) + " " + Words.text(worker.path("version"))
                : Words.NONE;
    }

    private static String blank(boolean shown, String text) {
        return shown ? text : "";
    }

    private static Span state(JsonNode worker) {
        String state = Words.text(worker.path("state"));
        if (Verdict.isDrained(worker)) {
            return new Span("drained", Tone.FAINT);
        }
        return new Span(
                state,
                switch (state) {
                    case "ready" -> Tone.GOOD;
                    case "draining" -> Tone.FAINT;
                    case "unhealthy", "suspended" -> Tone.BAD;
                    default -> Tone.WARNING;
                });
    }

    /** The part of a rank's KV blocks in use, as its engine tells, else as booked. */
    private static String kv(JsonNode rank) {
        JsonNode told = rank.path("engine").path("kv_blocks");
        JsonNode used = told.isNumber() ? told : rank.path("kv_blocks_used");
        double all = rank.path("kv_blocks_total").asDouble();
        return all > 0 && used.isNumber() ? Words.percent(used.asDouble() / all) : Words.NONE;
    }

    /** How many of the predictions were what the engine reported. */
    private static String right(JsonNode prediction) {
        double equal = prediction.path("equal").asDouble();
        double all =
                equal + prediction.path("over").asDouble() + prediction.path("under").asDouble();
        return all > 0 ? Words.percent(equal / all) : Words.NONE;
    }

    /** The last steps, each as high as its part of the highest. */
    static String sparkline(JsonNode steps) {
        int from = Math.max(0, steps.size() - STEPS);
        double highest = 0;
        for (int i = from; i < steps.size(); i++) {
            highest = Math.max(highest, steps.path(i).asDouble());
        }
        StringBuilder line = new StringBuilder();
        for (int i = from; i < steps.size(); i++) {
            double part = highest > 0 ? steps.path(i).asDouble() / highest : 0;
            line.append(BARS.charAt((int) Math.round(part * (BARS.length() - 1))));
        }
        return line.toString();
    }
}
