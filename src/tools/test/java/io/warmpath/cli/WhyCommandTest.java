package io.warmpath.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WhyCommandTest {
    private StubGateway gateway;

    @BeforeEach
    void start() throws IOException {
        gateway = new StubGateway();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    @Test
    void each_attempt_is_explained_the_first_one_first() {
        assertEquals(0, gateway.onAll().run("why", "0f3c"), gateway.err());
        assertEquals(
                """
                request 0f3c   2026-11-24T18:02:30Z   /v1/chat/completions   model qwen3
                tenant acme   session s1   trace 4bf92f35

                attempt 1 (first) at 18:02:30 to w1 rank 0   no answer: refused the connection
                Of 4,310 prompt tokens 4,096 were predicted to be cached; the engine has
                reported nothing.
                Reason: lowest cost
                3 candidates, costs in milliseconds; terms were not kept for this request:
                  WORKER      COST
                * w1 rank 0  12.50
                  w2 rank 0  15.10
                  w3 rank 1  40.60
                Next: w2 rank 0, 2.60 dearer.
                blocks of the prompt that w1 rank 0 held   256 gpu

                attempt 2 (retry) at 18:02:30 to w2 rank 0   status 200   first token 38 ms
                whole answer 2,418 ms   212 tokens out
                Of 4,310 prompt tokens 4,096 were predicted to be cached; the engine reported
                3,968, 128 fewer.
                Reason: lowest cost
                The cost in blocks would have taken w3 rank 1.
                2 candidates, costs in milliseconds:
                  WORKER      COST  cached_tokens  new_tokens  wait_ms  prefill_ms
                * w2 rank 0  15.10          4,096         214        4       11.10
                  w3 rank 1  40.60            128       4,182        0       40.60
                Next: w3 rank 1, 25.50 dearer; beside the chosen one it has cached_tokens
                -3,968, new_tokens +3,968, wait_ms -4, prefill_ms +29.50.
                blocks of the prompt that w2 rank 0 held   200 gpu   56 host
                Not w1 rank 0: failed for this request
                Not w4: unhealthy
                """,
                gateway.out());
        assertEquals(List.of("GET /router/decisions?request_id=0f3c"), gateway.asked());
    }

    @Test
    void an_id_is_one_value_of_the_query_whatever_it_has() {
        gateway.onAll().run("why", "a b&limit=1/%é");
        assertEquals(
                List.of("GET /router/decisions?request_id=a%20b%26limit%3D1%2F%25%C3%A9"),
                gateway.asked());
    }

    @Test
    void a_cheaper_candidate_that_was_not_taken_is_told_with_the_rule() {
        gateway.on(
                "GET /router/decisions",
                200,
                """
                {"enabled":true,"decisions":[{"number":1,"request_id":"r","ended":false,"worker":"w1","decision":
                 {"cost_model":"blocks","reason":"session","choice":{"rule":"affinity"},
                  "chosen":{"worker":"w1","worker_id":"1","dp_rank":0},
                  "candidates":[{"worker":"w1","worker_id":"1","dp_rank":0,"cost":5},
                                {"worker":"w2","worker_id":"2","dp_rank":0,"cost":2}]}}]}
                """);
        assertEquals(0, gateway.run("why", "r"));
        assertTrue(
                gateway.out()
                        .contains(
                                "Next: w2 rank 0, 3 cheaper, and not taken by the rule affinity."),
                gateway.out());
        assertTrue(gateway.out().contains("to w1 rank 0   running\n"), gateway.out());
    }

    @Test
    void many_candidates_are_cut_to_the_cheapest_and_the_chosen_one() {
        StringBuilder candidates = new StringBuilder();
        for (int i = 1; i <= 30; i++) {
            candidates.append(
                    "{\"worker\":\"w%d\",\"worker_id\":\"%d\",\"dp_rank\":0,\"cost\":%d},"
                            .formatted(i, i, i));
        }
        candidates.setLength(candidates.length() - 1);
        gateway.on(
                "GET /router/decisions",
                200,
                ("{\"enabled\":true,\"decisions\":[{\"number\":1,\"decision\":{\"chosen\":"
                        + "{\"worker\":\"w20\",\"worker_id\":\"20\",\"dp_rank\":0},\"candidates\":["
                        + candidates
                        + "]}}]}"));
        gateway.run("why", "r");
        assertTrue(gateway.out().contains("\n* w20 rank 0    20\n"), gateway.out());
        assertTrue(gateway.out().contains("... and 19 more; all with --all."), gateway.out());
        gateway.run("why", "r", "--all");
        assertTrue(gateway.out().contains("  w30 rank 0    30\n"), gateway.out());
    }

    @Test
    void what_is_not_kept_is_said() {
        gateway.on(
                "GET /router/decisions",
                200,
                "{\"enabled\":true,\"kept\":{\"decisions\":10000,\"since\":\"2026-11-24T17:40:00Z\","
                        + "\"left_out\":3},\"decisions\":[]}");
        assertEquals(1, gateway.run("why", "nobody"));
        assertEquals(
                "warmpath why: no decision of nobody is kept; there are 10,000, since"
                        + " 2026-11-24T17:40:00Z, and 3 were left out, as they came too fast.\n",
                gateway.err());
    }

    @Test
    void decisions_that_are_off_are_said() {
        gateway.on("GET /router/decisions", 200, "{\"enabled\":false,\"decisions\":[]}");
        assertEquals(1, gateway.run("why", "r"));
        assertEquals(
                "warmpath why: the gateway keeps no decisions; start it without"
                        + " warmpath.explain.decisions=0.\n",
                gateway.err());
    }
}
