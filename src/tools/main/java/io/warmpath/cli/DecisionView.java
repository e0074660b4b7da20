package io.warmpath.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.cli.TextTable.Column;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * A routing decision for people: its reason, the candidates with the terms of their costs, who
 * would have been next. Terms are shown by the names that the gateway gives them, so a new one
 * needs nothing here. Stateless.
 */
final class DecisionView {
    private static final int MOST_CANDIDATES = 10;
    private static final String COST = "cost";

    private DecisionView() {}

    /** {@code all}: every candidate and term; else the cheapest, and terms that differ. */
    static void print(Page page, JsonNode decision, boolean all) {
        if (!decision.isObject()) {
            page.text("", "Details of this decision were not kept.", Tone.FAINT);
            return;
        }
        page.text("Reason: ", Words.text(decision.path("reason")), Tone.PLAIN);
        otherCost(page, decision.path("other_cost"));
        pools(page, decision.path("shared_cache"));
        List<JsonNode> eligible = eligible(decision);
        JsonNode chosen = decision.path("chosen");
        if (!eligible.isEmpty()) {
            candidates(page, decision, eligible, all);
            next(page, decision, eligible);
        }
        List<Span> holds = new ArrayList<>();
        for (String tier : List.of("gpu", "host", "disk", "external", "shared")) {
            JsonNode blocks = chosen.path(tier + "_blocks");
            if (blocks.asLong() > 0) {
                holds.add(Span.of(Words.count(blocks) + " " + tier));
            }
        }
        if (!holds.isEmpty()) {
            holds.addFirst(
                    new Span("blocks of the prompt that " + name(chosen) + " held", Tone.FAINT));
            page.spans(holds);
        }
        ineligible(page, decision);
    }

    private static void otherCost(Page page, JsonNode other) {
        if (other.isObject()) {
            page.text(
                    "",
                    "The cost in "
                            + (other.path("name").asText().equals("latency")
                                    ? "milliseconds"
                                    : Words.text(other.path("name")))
                            + (other.path("agrees").asBoolean()
                                    ? " would have taken the same."
                                    : " would have taken " + name(other) + "."),
                    Tone.FAINT);
        }
    }

    private static void pools(Page page, JsonNode pools) {
        for (JsonNode pool : pools) {
            page.text(
                    "",
                    "Pool "
                            + Words.text(pool.path("pool"))
                            + ": "
                            + Words.text(pool.path("answer"))
                            + (pool.hasNonNull("hit_blocks")
                                    ? ", " + Words.count(pool.path("hit_blocks")) + " blocks"
                                    : "")
                            + (pool.hasNonNull("error")
                                    ? ", " + Words.text(pool.path("error"))
                                    : ""),
                    Tone.PLAIN);
        }
    }

    /** Those that were compared, the cheapest first. */
    private static List<JsonNode> eligible(JsonNode decision) {
        List<JsonNode> eligible = new ArrayList<>();
        for (JsonNode candidate : decision.path("candidates")) {
            if (candidate.path(COST).isNumber()) {
                eligible.add(candidate);
            }
        }
        eligible.sort(Comparator.comparingDouble(c -> c.path(COST).asDouble()));
        return eligible;
    }

    private static void candidates(
            Page page, JsonNode decision, List<JsonNode> eligible, boolean all) {
        JsonNode chosen = decision.path("chosen");
        List<String> terms = terms(eligible, all);
        List<Column> columns = new ArrayList<>();
        columns.add(Column.text("  WORKER", Column.STAYS));
        columns.add(Column.number("COST", Column.STAYS));
        for (int i = 0; i < terms.size(); i++) {
            columns.add(Column.number(terms.get(i), all ? Column.STAYS : terms.size() - i));
        }
        TextTable table = new TextTable(columns);
        int shown = 0;
        for (JsonNode candidate : eligible) {
            boolean isChosen = same(candidate, chosen);
            if (!isChosen && !all && shown >= MOST_CANDIDATES) {
                continue;
            }
            shown++;
            Tone tone = isChosen ? Tone.STRONG : Tone.PLAIN;
            List<Span> row = new ArrayList<>();
            row.add(new Span((isChosen ? "* " : "  ") + name(candidate), tone));
            row.add(new Span(Words.number(candidate.path(COST)), tone));
            terms.forEach(
                    t -> row.add(new Span(Words.number(candidate.path("terms").path(t)), tone)));
            table.row(row);
        }
        page.text(
                "",
                eligible.size()
                        + (eligible.size() == 1 ? " candidate" : " candidates")
                        + ", costs in "
                        + (decision.path("cost_model").asText().equals("latency")
                                ? "milliseconds"
                                : "blocks")
                        + (eligible.getFirst().has("terms")
                                ? ":"
                                : "; terms were not kept for this request:"),
                Tone.FAINT);
        page.table(table);
        if (shown < eligible.size()) {
            page.text(
                    "  ",
                    "... and " + (eligible.size() - shown) + " more; all with --all.",
                    Tone.FAINT);
        }
    }

    /** In the order that the gateway gives them. */
    private static List<String> terms(List<JsonNode> eligible, boolean all) {
        List<String> terms = new ArrayList<>();
        Iterator<String> names = eligible.getFirst().path("terms").fieldNames();
        while (names.hasNext()) {
            String term = names.next();
            TreeSet<Double> values = new TreeSet<>();
            eligible.forEach(
                    c -> values.add(Math.rint(100 * c.path("terms").path(term).asDouble())));
            // To one of several, what all have alike says nothing.
            boolean tells = eligible.size() > 1 ? values.size() > 1 : values.first() != 0;
            if (!term.equals(COST) && (all || tells)) {
                terms.add(term);
            }
        }
        return terms;
    }

    /** The cheapest of the others beside the chosen one. */
    private static void next(Page page, JsonNode decision, List<JsonNode> eligible) {
        JsonNode chosen = decision.path("chosen");
        Optional<JsonNode> winner = eligible.stream().filter(c -> same(c, chosen)).findFirst();
        Optional<JsonNode> next = eligible.stream().filter(c -> !same(c, chosen)).findFirst();
        if (winner.isEmpty() || next.isEmpty()) {
            return;
        }
        double more = next.get().path(COST).asDouble() - winner.get().path(COST).asDouble();
        StringBuilder text = new StringBuilder();
        text.append("Next: ").append(name(next.get())).append(", ");
        if (more == 0) {
            text.append("at the same cost");
        } else if (more > 0) {
            text.append(Words.number(more)).append(" dearer");
        } else {
            text.append(Words.number(-more))
                    .append(" cheaper, and not taken by the rule ")
                    .append(Words.text(decision.path("choice").path("rule")));
        }
        List<String> differences = new ArrayList<>();
        for (Map.Entry<String, JsonNode> term : winner.get().path("terms").properties()) {
            double d =
                    next.get().path("terms").path(term.getKey()).asDouble()
                            - term.getValue().asDouble();
            if (!term.getKey().equals(COST) && !Words.number(d).matches("-?0")) {
                differences.add(term.getKey() + " " + Words.difference(d));
            }
        }
        if (!differences.isEmpty()) {
            text.append("; beside the chosen one it has ").append(String.join(", ", differences));
        }
        page.text("", text.append('.').toString(), Tone.PLAIN);
    }

    private static void ineligible(Page page, JsonNode decision) {
        for (JsonNode candidate : decision.path("candidates")) {
            if (!candidate.path("eligible").asBoolean(true)) {
                page.text(
                        "",
                        "Not " + name(candidate) + ": " + Words.text(candidate.path("reason")),
                        Tone.FAINT);
            }
        }
        for (JsonNode other : decision.path("ineligible")) {
            page.text(
                    "",
                    "Not "
                            + Words.text(other.path("worker"))
                            + ": "
                            + Words.text(other.path("reason")),
                    Tone.FAINT);
        }
    }

    private static boolean same(JsonNode a, JsonNode b) {
        return a.path("worker_id").asText().equals(b.path("worker_id").asText())
                && a.path("dp_rank").asInt() == b.path("dp_rank").asInt();
    }

    private static String name(JsonNode candidate) {
        return Words.text(candidate.path("worker")) + " rank " + candidate.path("dp_rank").asInt();
    }
}
