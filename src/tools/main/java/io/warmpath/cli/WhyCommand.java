package io.warmpath.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/** Why a request went where it went: each of its attempts, with the decision that led to it. */
final class WhyCommand implements Command {
    private static final String ALL = "--all";

    @Override
    public String help() {
        return """
        Usage: ./warmpath why REQUEST-ID [--all] [--json]

        Prints why a request went where it went: each attempt with what became of it, the candidates
        with the terms of their costs, who would have been next and what that one lacked, predicted
        and reported cached tokens. REQUEST-ID is the header x-request-id of the answer; the
        gateway keeps the last 10,000 decisions (warmpath.explain.decisions).

          --all              every candidate and every term, however many

        Exit code: 0 found; 1 not among the decisions that are kept; 2 the gateway cannot be asked,
        or wrong use.
        """;
    }

    @Override
    public Set<String> switches() {
        return Set.of(ALL);
    }

    @Override
    public int fewestWords() {
        return 1;
    }

    @Override
    public int mostWords() {
        return 1;
    }

    @Override
    public int run(Call call) throws Trouble {
        String id = call.word(0);
        JsonNode answer = call.gateway().get("/router/decisions?request_id=" + Gateway.encoded(id));
        if (!answer.path("enabled").asBoolean()) {
            throw new Trouble(
                    Trouble.REFUSED,
                    "the gateway keeps no decisions; start it without"
                            + " warmpath.explain.decisions=0.");
        }
        List<JsonNode> rows = new ArrayList<>();
        answer.path("decisions").forEach(rows::add);
        if (rows.isEmpty()) {
            throw new Trouble(
                    Trouble.REFUSED, "no decision of " + id + " is kept" + kept(answer) + ".");
        }
        if (call.json()) {
            call.print(answer);
            return 0;
        }
        rows.sort(Comparator.comparingLong(row -> row.path("number").asLong()));
        Page page = call.page();
        request(page, rows.getFirst());
        for (JsonNode row : rows) {
            page.blank();
            attempt(page, row);
            DecisionView.print(page, row.path("decision"), call.arguments().has(ALL));
        }
        call.print(page);
        return 0;
    }

    private static String kept(JsonNode answer) {
        JsonNode kept = answer.path("kept");
        StringBuilder text = new StringBuilder();
        if (kept.path("decisions").isNumber()) {
            text.append("; there are ").append(Words.count(kept.path("decisions")));
            if (kept.hasNonNull("since")) {
                text.append(", since ").append(Words.time(kept.path("since")));
            }
            if (kept.path("left_out").asLong() > 0) {
                text.append(", and ")
                        .append(Words.count(kept.path("left_out")))
                        .append(" were left out, as they came too fast");
            }
        }
        return text.toString();
    }

    private static void request(Page page, JsonNode row) {
        List<Span> spans = new ArrayList<>();
        spans.add(new Span("request " + Words.text(row.path("request_id")), Tone.STRONG));
        spans.add(Span.of(Words.time(row.path("time"))));
        for (String member : List.of("path", "model", "tenant", "session", "trace_id")) {
            if (row.hasNonNull(member)) {
                String word =
                        member.equals("trace_id")
                                ? "trace "
                                : member.equals("path") ? "" : member + " ";
                spans.add(Span.of(word + Words.text(row.path(member))));
            }
        }
        page.spans(spans);
    }

    private static void attempt(Page page, JsonNode row) {
        List<Span> spans = new ArrayList<>();
        spans.add(
                new Span(
                        "attempt %s (%s) at %s to %s rank %s"
                                .formatted(
                                        Words.count(row.path("attempt")),
                                        Words.text(row.path("cause")),
                                        Words.timeOfDay(row.path("time")),
                                        Words.text(row.path("worker")),
                                        row.path("dp_rank").asInt()),
                        Tone.STRONG));
        spans.add(outcome(row));
        if (row.path("queue_ms").asDouble() > 0) {
            spans.add(Span.of("queued " + Words.millis(row.path("queue_ms"))));
        }
        if (row.hasNonNull("ttft_ms")) {
            spans.add(Span.of("first token " + Words.millis(row.path("ttft_ms"))));
        }
        if (row.hasNonNull("total_ms")) {
            spans.add(Span.of("whole answer " + Words.millis(row.path("total_ms"))));
        }
        if (row.hasNonNull("output_tokens")) {
            spans.add(Span.of(Words.count(row.path("output_tokens")) + " tokens out"));
        }
        page.spans(spans);
        page.text("", prediction(row), Tone.PLAIN);
    }

    static Span outcome(JsonNode row) {
        if (!row.path("ended").asBoolean()) {
            return new Span("running", Tone.FAINT);
        }
        int status = row.path("status").asInt();
        String problem = row.path("problem").asText();
        boolean good = status >= 200 && status < 400 && problem.isEmpty();
        return new Span(
                (status == 0 ? "no answer" : "status " + status)
                        + (problem.isEmpty() ? "" : ": " + problem),
                good ? Tone.GOOD : Tone.BAD);
    }

    private static String prediction(JsonNode row) {
        JsonNode predicted = row.path("predicted_cached_tokens");
        JsonNode reported = row.path("reported_cached_tokens");
        String why = row.path("not_exact").asText("").replace('_', ' ');
        String of =
                "Of "
                        + Words.count(row.path("prompt_tokens"))
                        + " prompt tokens "
                        + (predicted.isNumber()
                                ? Words.count(predicted) + " were predicted to be cached"
                                : "none were predicted to be cached")
                        + (why.isEmpty() ? "" : " (" + why + ")")
                        + "; ";
        if (!reported.isNumber()) {
            return of + "the engine has reported nothing.";
        }
        if (!predicted.isNumber()) {
            return of + "the engine reported " + Words.count(reported) + ".";
        }
        long over = predicted.asLong() - reported.asLong();
        return of
                + "the engine reported "
                + Words.count(reported)
                + (over == 0
                        ? ", the same."
                        : over > 0
                                ? ", " + Words.count((double) over) + " fewer."
                                : ", " + Words.count((double) -over) + " more.");
    }
}
