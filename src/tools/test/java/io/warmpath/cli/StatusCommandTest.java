package io.warmpath.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What {@code status} prints, and its exit code, which scripts read. */
class StatusCommandTest {
    private StubGateway gateway;

    @BeforeEach
    void start() throws IOException {
        gateway = new StubGateway();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private static String fleet(boolean ready, String degraded, String workers) {
        return "{'gateway':{'version':'0.1.0','ready':%b,'degraded':[%s]},'workers':[%s]}"
                .formatted(ready, degraded, workers)
                .replace('\'', '"');
    }

    private static String worker(String name, String state, boolean drained, String events) {
        return "{'name':'%s','id':'%s','state':'%s','problem':'','drained':%b,"
                        .formatted(name, name, state, drained)
                + "'ranks':[{'dp_rank':0,'running':0,'events':{'state':'%s'}}]}".formatted(events);
    }

    private int status(String fleet) throws IOException {
        try (StubGateway other = new StubGateway()) {
            other.on("GET /fleet", 200, fleet).on("GET /usage", 200, "{\"total\":{}}");
            return other.run("status");
        }
    }

    @Test
    void one_screen_says_how_gateway_and_workers_do() {
        assertEquals(1, gateway.onAll().run("status"), gateway.err());
        assertEquals(
                """
                Warmpath 0.1.0   http://gateway   mode kv, cost latency   up 2 h 13 min
                18:02:31 UTC
                degraded   1 of 3 workers ready   412.3 requests/s   hit rate 63.1 %
                TTFT 38 ms   91 running   0 queued
                ! The tokenizer of qwen3 is late for 2 % of prompts.
                ! w3 is unhealthy: its health check was refused
                ! The events of w3 rank 0: frozen.
                - w2: new driver

                WORKER  STATE      RUN  WAIT  PREFILL      KV  REQ/5M     HIT    TTFT  EVENTS
                w3:0    unhealthy    0     -        0   0.0 %   9,000  50.0 %  12.5 s  frozen
                w3:1    unhealthy    0     -        0   0.0 %                          following
                w1      ready       31     2    4,310  61.0 %  61,204  71.2 %   31 ms  following
                w2      drained      3     -        0       -     100       -       -  following

                last hour   40,000 requests   3 errors   4 refused
                12.0M prompt tokens, 58.3 % from caches   33 min of prefill saved
                3.50 USD saved   heaviest tenant acme (62.5 % of tokens)
                """,
                gateway.out());
        assertEquals(
                List.of("GET /fleet?history=false", "GET /usage?window=1h&by=tenant"),
                gateway.asked());
    }

    @Test
    void a_wide_terminal_shows_all_columns() {
        gateway.environment.put("COLUMNS", "150");
        gateway.onAll().run("status");
        assertTrue(
                gateway.out()
                        .contains(
                                "EVENTS      RIGHT    GPU    HOST  DISK  REQUESTS, LAST 5 MIN"
                                        + "  VERSION\n"),
                gateway.out());
        assertTrue(
                gateway.out().contains("following  98.0 %  3,900  12,000     0  ▁▂▃▄▅▆▇█"),
                gateway.out());
    }

    @Test
    void columns_of_which_nothing_is_known_are_left_out() throws IOException {
        gateway.environment.put("COLUMNS", "140");
        gateway.on("GET /fleet", 200, fleet(true, "", worker("w1", "ready", false, "following")))
                .on("GET /usage", 200, "{\"total\":{}}");
        assertEquals(0, gateway.run("status"));
        assertTrue(
                gateway.out()
                        .contains("\nWORKER  STATE  RUN  EVENTS\nw1      ready    0  following\n"),
                gateway.out());
    }

    @Test
    void a_worker_that_does_a_part_of_requests_says_which() throws IOException {
        String halves =
                worker("w1", "ready", false, "following").replace("'id'", "'role':'prefill','id'")
                        + ","
                        + worker("w2", "ready", false, "none")
                                .replace("'id'", "'role':'both','id'");
        gateway.on("GET /fleet", 200, fleet(true, "", halves))
                .on("GET /usage", 200, "{\"total\":{}}");
        assertEquals(0, gateway.run("status"));
        assertTrue(
                gateway.out()
                        .contains(
                                """

                                WORKER  STATE  ROLE     RUN  EVENTS
                                w1      ready  prefill    0  following
                                w2      ready  -          0  none
                                """),
                gateway.out());
    }

    @Test
    void no_line_is_longer_than_the_terminal_is_wide() {
        gateway.onAll();
        for (int columns = 40; columns < 160; columns++) {
            gateway.environment.put("COLUMNS", Integer.toString(columns));
            gateway.run("status");
            int limit = columns;
            assertTrue(
                    gateway.out
                            .toString(StandardCharsets.UTF_8)
                            .lines()
                            .allMatch(line -> line.length() <= limit),
                    gateway.out());
        }
    }

    @Test
    void the_exit_code_says_well_degraded_or_down() throws IOException {
        String ready = worker("w1", "ready", false, "following");
        assertEquals(0, status(fleet(true, "", ready)));
        assertEquals(
                0, status(fleet(true, "", ready + "," + worker("w2", "drained", true, "none"))));
        assertEquals(0, status(fleet(true, "", worker("w1", "draining", false, "following"))));
        assertEquals(0, status(fleet(true, "", worker("w1", "full", false, "following"))));
        assertEquals(1, status(fleet(true, "'NATS is away.'", ready)));
        for (String state : List.of("starting", "suspended", "trial", "paused", "unhealthy")) {
            assertEquals(
                    1, status(fleet(true, "", worker("w1", state, false, "following"))), state);
        }
        for (String events : List.of("frozen", "gone")) {
            assertEquals(1, status(fleet(true, "", worker("w1", "ready", false, events))), events);
        }
        String gap = worker("w1", "ready", false, "gap");
        assertEquals(0, status(fleet(true, "", gap)));
        assertEquals(1, status(fleet(true, "", gap.replace("'gap'", "'gap','trust':0.5"))));
        assertEquals(2, status(fleet(false, "", ready)));
        assertEquals(2, status(fleet(false, "", "")));
    }

    @Test
    void whatever_keeps_it_from_knowing_is_down() {
        gateway.on("GET /fleet", 403, StubGateway.error("No.", "forbidden"));
        assertEquals(2, gateway.run("status"));
        gateway.close();
        assertEquals(2, gateway.run("status"));
        assertEquals(2, gateway.run("status", "--frob"));
    }

    @Test
    void json_is_the_gateways_answer_and_the_exit_code_is_the_same() {
        assertEquals(1, gateway.onAll().run("status", "--json"));
        assertEquals(
                StubGateway.file("fleet.json").replaceAll("\\s*\\n\\s*", ""),
                gateway.out().strip());
    }

    @Test
    void a_large_fleet_stays_on_one_screen_with_those_that_are_ill() {
        StringBuilder workers = new StringBuilder();
        for (int i = 0; i < 200; i++) {
            workers.append(
                            worker(
                                    "w%03d".formatted(i),
                                    i == 150 ? "unhealthy" : "ready",
                                    false,
                                    "following"))
                    .append(',');
        }
        workers.setLength(workers.length() - 1);
        gateway.on("GET /fleet", 200, fleet(true, "", workers.toString()))
                .on("GET /usage", 200, "{\"total\":{}}");
        assertEquals(1, gateway.run("status"));
        List<String> lines = gateway.out().lines().toList();
        assertTrue(lines.size() <= 24, gateway.out());
        assertTrue(gateway.out().contains("\nw150    unhealthy"), gateway.out());
        assertTrue(gateway.out().contains(" more workers; all with --all"), gateway.out());
        gateway.run("status", "--all");
        assertTrue(gateway.out().contains("\nw199 "), gateway.out());
    }

    @Test
    void names_cannot_steer_the_terminal() {
        gateway.on(
                        "GET /fleet",
                        200,
                        fleet(true, "", worker("w\\u001b[2J\\u0007", "ready", false, "following")))
                .on("GET /usage", 200, "{\"total\":{}}");
        assertEquals(0, gateway.run("status"));
        assertTrue(gateway.out().contains("\nw?[2J?  ready"), gateway.out());
        assertEquals(-1, gateway.out().indexOf('\u001b'));
    }

    @Test
    void readiness_needs_one_question_and_no_operator() throws IOException {
        gateway.on("GET /ready", 200, "{\"status\":\"ready\"}");
        assertEquals(0, gateway.run("status", "--ready"));
        assertEquals("ready\n", gateway.out());
        assertEquals(List.of("GET /ready"), gateway.asked());
        try (StubGateway waiting = new StubGateway()) {
            waiting.on(
                    "GET /ready",
                    503,
                    "{\"status\":\"waiting for a worker\",\"workers\":{\"w1\":\"refused\"}}");
            assertEquals(2, waiting.run("status", "--ready"));
            assertEquals("waiting for a worker\nw1:   refused\n", waiting.out());
        }
        try (StubGateway foreign = new StubGateway()) {
            foreign.on("GET /ready", 200, "{\"up\":true}");
            assertEquals(2, foreign.run("status", "--ready"));
            assertTrue(foreign.err().contains("is no Warmpath gateway"), foreign.err());
        }
    }
}
