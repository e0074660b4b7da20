package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.api.request.RequestParser;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The priority that a client gives, as each engine gets it. */
class PriorityTest {
    private static final String EXPLAIN = "x-warmpath-explain: 1";

    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.RAW);
        engine = new StubEngine(call -> call.json(200, "{}"));
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        engine.close();
    }

    private void serve(PriorityOrder order) {
        Worker w = Gateway.worker(0, engine.url(), EngineKind.SGLANG, WorkerState.READY, 1);
        gateway.fleet.workers(List.of(w.toBuilder().priorities(order).build()));
    }

    /** What the engine has got, and what the client is told of it. */
    private String ask(String members, String... headers) throws Exception {
        engine.calls.clear();
        RawClient.Answer answer =
                gateway.post(
                        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
                                + members
                                + "}",
                        headers);
        assertEquals(200, answer.status(), answer::body);
        JsonNode got = new ObjectMapper().readTree(engine.calls.getFirst().bodyText());
        assertFalse(got.has("nvext"));
        return got.path("priority").asText("none") + " " + answer.header("x-warmpath-hints");
    }

    @Test
    void each_engine_gets_it_in_its_own_order() throws Exception {
        String ten = ",\"nvext\":{\"agent_hints\":{\"priority\":10,\"osl\":512}}";
        serve(PriorityOrder.HIGHER_FIRST);
        assertEquals("10 priority=10.0;strict=0;osl=512;engine=10", ask(ten, EXPLAIN));
        serve(PriorityOrder.LOWER_FIRST);
        assertEquals("-10 priority=10.0;strict=0;osl=512;engine=-10", ask(ten, EXPLAIN));
        serve(PriorityOrder.NOT_TAKEN);
        assertEquals("none priority=10.0;strict=0;osl=512;engine=not-taken", ask(ten, EXPLAIN));
    }

    @Test
    void a_header_wins_over_the_hint_and_the_hint_over_the_engines_own_member() throws Exception {
        serve(PriorityOrder.LOWER_FIRST);
        String both = ",\"priority\":3,\"nvext\":{\"agent_hints\":{\"priority\":10}}";
        assertEquals("-10 null", ask(both));
        assertEquals("-5 null", ask(both, "x-dynamo-request-priority: 5"));
        assertEquals("3 null", ask(",\"priority\":3"));
    }

    @Test
    void an_objective_is_its_priority_in_long_bodies_too() throws Exception {
        serve(PriorityOrder.HIGHER_FIRST);
        String ten = "10 priority=10.0;strict=0;osl=0;engine=10";
        String objective = "x-gateway-inference-objective: premium";
        assertEquals(ten, ask("", EXPLAIN, objective));
        String padding = ",\"padding\":\"" + "x".repeat(RequestParser.SHORT_BYTES) + "\"";
        assertEquals(ten, ask(padding, EXPLAIN, objective));
        assertEquals("none null", ask("", EXPLAIN, "x-gateway-inference-objective: other"));
    }

    @Test
    void latency_sensitivity_says_nothing_to_the_engine() throws Exception {
        serve(PriorityOrder.HIGHER_FIRST);
        String got = ask(",\"nvext\":{\"agent_hints\":{\"latency_sensitivity\":2.5}}", EXPLAIN);
        assertEquals("none priority=2.5;strict=0;osl=0;sensitivity=2.5", got);
        assertTrue(ask("", EXPLAIN).endsWith("null"), "no hint, no word of it");
    }

    @Test
    void every_hint_is_shown_and_greed_reaches_the_engine() throws Exception {
        serve(PriorityOrder.NOT_TAKEN);
        String all =
                ",\"temperature\":0.7,\"nvext\":{\"greed_sampling\":true,\"agent_hints\":"
                        + "{\"speculative_prefill\":true},\"cache_control\":{\"type\":\"ephemeral\","
                        + "\"ttl\":\"1h\"},\"session_control\":{\"session_id\":\"süb;1\","
                        + "\"action\":\"open\",\"timeout\":60}}";
        assertEquals(
                "none priority=0.0;strict=0;osl=0;class=batch;speculative-prefill=1;greedy=1;"
                        + "session-control=open:60s:s?b;1;cache-control=3600s;parent=boss",
                ask(
                        all,
                        EXPLAIN,
                        "x-dynamo-meta-policy-class: batch",
                        "x-parent-session-id: boss"));
        JsonNode got = new ObjectMapper().readTree(engine.calls.getFirst().bodyText());
        assertEquals(0, got.get("temperature").asInt(-1));
        assertEquals("none null", ask("", EXPLAIN), "who says nothing is told nothing");
    }
}
