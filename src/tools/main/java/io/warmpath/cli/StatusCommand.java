package io.warmpath.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** One screen: is the gateway well, which worker is not, what did the last hour bring. */
final class StatusCommand implements Command {
    private static final String ALL = "--all";
    private static final String READY = "--ready";
    private static final int MOST_PROBLEMS = 8;

    /** Lines for heads, what was left out, and the last hour. */
    private static final int LINES_BELOW = 7;

    @Override
    public String help() {
        return """
        Usage: ./warmpath status [--all | --ready] [--json]

        Prints on one screen how a gateway and its workers do. For each rank: its worker's role, where
        one does a part of requests, running and waiting requests, booked prefill tokens (PREFILL),
        KV blocks in use, requests of 5 minutes, their hit rate and mean time to first token, the
        state of its events, how many predictions were what the engine reported (RIGHT), and the
        blocks that each tier holds. A narrow terminal shows what matters most.

        Exit code: 0 all well; 1 degraded: a worker gets no requests or its events are lost, without
        an operator's will; 2 down, not to be reached, or wrong use. A drained worker is well.

          --all              every worker, however many
          --ready            whether an engine can take a request, and nothing else: exit code 0
                             or 2. Needs no token
        """;
    }

    @Override
    public Set<String> switches() {
        return Set.of(ALL, READY);
    }

    @Override
    public int run(Call call) throws Trouble {
        if (call.arguments().has(READY)) {
            return readiness(call);
        }
        JsonNode fleet = call.gateway().get("/fleet?history=false");
        Verdict verdict = Verdict.of(fleet);
        if (call.json()) {
            call.print(fleet);
            return verdict.level().exitCode();
        }
        JsonNode usage = call.gateway().get("/usage?window=1h&by=tenant");
        Page page = call.page();
        FleetView.head(
                page, fleet, verdict, call.gateway().base(), call.around().clock().instant());
        FleetView.problems(page, fleet, verdict, MOST_PROBLEMS);
        page.blank();
        int most =
                call.arguments().has(ALL)
                        ? Integer.MAX_VALUE
                        : call.around().lines() - page.lines().size() - LINES_BELOW;
        FleetView.workers(page, fleet, Math.max(3, most));
        page.blank();
        page.spans(lastHour(usage));
        call.print(page);
        return verdict.level().exitCode();
    }

    private static int readiness(Call call) throws Trouble {
        JsonNode answer = call.gateway().readiness();
        if (call.json()) {
            call.print(answer);
        } else {
            Page page = call.page();
            page.spans(List.of(Span.of(Words.text(answer.path("status")))));
            answer.path("workers")
                    .properties()
                    .forEach(
                            worker ->
                                    page.spans(
                                            List.of(
                                                    Span.of(Words.clean(worker.getKey()) + ":"),
                                                    Span.of(Words.text(worker.getValue())))));
            call.print(page);
        }
        return answer.path("status").asText().equals("ready") ? 0 : Trouble.FAILED;
    }

    private static List<Span> lastHour(JsonNode usage) {
        JsonNode total = usage.path("total");
        List<Span> hour = new ArrayList<>();
        hour.add(new Span("last hour", Tone.FAINT));
        hour.add(Span.of(Words.count(total.path("requests")) + " requests"));
        hour.add(Span.of(Words.count(total.path("errors")) + " errors"));
        hour.add(Span.of(Words.count(total.path("refused")) + " refused"));
        double prompt = total.path("prompt_tokens").asDouble();
        hour.add(
                Span.of(
                        Words.count(prompt)
                                + " prompt tokens"
                                + (prompt > 0
                                        ? ", "
                                                + Words.percent(
                                                        total.path("cached_tokens").asDouble()
                                                                / prompt)
                                                + " from caches"
                                        : "")));
        hour.add(Span.of(Words.duration(total.path("saved_prefill_ms")) + " of prefill saved"));
        if (total.hasNonNull("saved_money")) {
            hour.add(
                    Span.of(
                            Words.number(total.path("saved_money"))
                                    + " "
                                    + Words.text(usage.path("currency"))
                                    + " saved"));
        }
        heaviest(usage, hour);
        return hour;
    }

    private static void heaviest(JsonNode usage, List<Span> hour) {
        JsonNode heaviest = null;
        double all = 0;
        for (JsonNode row : usage.path("rows")) {
            all += tokens(row);
            if (heaviest == null || tokens(row) > tokens(heaviest)) {
                heaviest = row;
            }
        }
        if (heaviest != null && all > 0 && heaviest.hasNonNull("tenant")) {
            hour.add(
                    Span.of(
                            "heaviest tenant %s (%s of tokens)"
                                    .formatted(
                                            Words.text(heaviest.path("tenant")),
                                            Words.percent(tokens(heaviest) / all))));
        }
    }

    /** What an engine computed for it, and its answers. */
    private static double tokens(JsonNode row) {
        return row.path("prompt_tokens").asDouble()
                - row.path("cached_tokens").asDouble()
                + row.path("output_tokens").asDouble();
    }
}
