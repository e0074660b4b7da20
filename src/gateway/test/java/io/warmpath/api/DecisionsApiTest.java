package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.api.admin.DecisionLines;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.DecisionLog.Ended;
import io.warmpath.gateway.observe.DecisionLog.Logged;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.modes.Routers;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The log of decisions and its replay, over HTTP. */
@ExtendWith(Leaks.class)
class DecisionsApiTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

    private final List<Logged> written = new CopyOnWriteArrayList<>();
    private final List<Ended> ended = new CopyOnWriteArrayList<>();
    private Gateway gateway;
    private StubEngine engine;

    private void start(int kept) throws Exception {
        gateway =
                new Gateway(
                        EnginePath.RAW,
                        kept < 0
                                ? DecisionLog.OFF
                                : new DecisionLog(kept, sink(), InstantSource.fixed(NOW)));
        gateway.router.instead =
                Routers.create(RouterOptions.of(RouterMode.KV), gateway.books, () -> new Random(7));
        engine = new StubEngine(call -> call.json(200, "{\"choices\":[]}"));
        gateway.serve(engine, engine);
    }

    private DecisionLog.Sink sink() {
        return new DecisionLog.Sink() {
            @Override
            public void decided(Logged decision) {
                written.add(decision);
            }

            @Override
            public void ended(Ended end) {
                ended.add(end);
            }
        };
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        engine.close();
    }

    private void request(String id) throws Exception {
        assertEquals(200, gateway.post(Gateway.ASK_WHOLE, "x-request-id: " + id).status());
    }

    private JsonNode get(String path) throws Exception {
        RawClient.Answer answer = RawClient.request(gateway.port, "GET", path);
        assertEquals(200, answer.status(), answer.body());
        return JSON.readTree(answer.body());
    }

    private static List<String> ids(JsonNode decisions) {
        return decisions
                .get("decisions")
                .valueStream()
                .map(d -> d.get("request_id").textValue())
                .toList();
    }

    @Test
    void the_last_decisions_are_kept_newest_first_in_full() throws Exception {
        start(3);
        for (String id : List.of("a", "b", "c", "d")) {
            request(id);
        }
        JsonNode all = get("/router/decisions");
        assertTrue(all.get("enabled").booleanValue());
        assertEquals(List.of("d", "c", "b"), ids(all));
        assertEquals(List.of("d"), ids(get("/router/decisions?limit=1")));
        JsonNode last = all.get("decisions").get(0);
        assertEquals(3, last.get("number").intValue());
        assertEquals("m", last.get("model").textValue());
        assertEquals(NOW.toString(), last.get("time").textValue());
        JsonNode candidates = last.get("decision").get("candidates");
        assertEquals(2, candidates.size());
        assertTrue(candidates.get(1).get("terms").has("active_blocks"));
        // Both workers are idle and hold as much: equal costs, of either kind.
        assertEquals("latency", last.at("/decision/cost_model").textValue());
        assertEquals("blocks", last.at("/decision/other_cost/name").textValue());
        assertTrue(last.at("/decision/other_cost/agrees").booleanValue());
        assertEquals(2, last.at("/decision/other_cost/ties").intValue());
        assertEquals(3.5, candidates.get(1).at("/costs/blocks").doubleValue());
        assertEquals(candidates.get(1).get("cost"), candidates.get(1).at("/costs/latency"));
        assertEquals(4, written.size());
        ObjectNode line = (ObjectNode) JSON.readTree(DecisionLines.of(written.getLast()));
        assertEquals(16, line.remove("block_tokens").intValue());
        assertEquals(2 * 8, line.remove("prompt_blocks").textValue().length());
        assertEquals(last, line);
    }

    @Test
    void every_attempt_has_an_end_with_what_the_engine_reported() throws Exception {
        start(3);
        request("a");
        assertEquals(List.of(0L), ended.stream().map(Ended::number).toList());
        assertEquals(200, ended.getFirst().ending().status());
        JsonNode line = JSON.readTree(DecisionLines.of(ended.getFirst()));
        assertEquals(0, line.get("ended").intValue());
        assertEquals(NOW.toString(), line.get("time").textValue());
        assertFalse(line.has("output_tokens"), "the engine has not said");
        assertTrue(line.get("total_ms").doubleValue() > 0);
    }

    @Test
    void off_keeps_nothing_and_asks_no_terms_of_the_router() throws Exception {
        start(-1);
        request("a");
        JsonNode none = get("/router/decisions");
        assertFalse(none.get("enabled").booleanValue());
        assertEquals(0, none.get("decisions").size());
        assertEquals(RoutingRequest.Detail.CHOSEN, gateway.router.requests.getFirst().detail());
    }

    @Test
    void dry_runs_are_not_logged_and_reservations_are() throws Exception {
        start(3);
        String prompt = "{\"token_ids\":[1,2,3]}";
        assertEquals(200, RawClient.post(gateway.port, "/router/explain", prompt).status());
        assertEquals(0, written.size());
        RawClient.Answer made = RawClient.post(gateway.port, "/router/reservations", prompt);
        assertEquals(201, made.status());
        assertEquals(1, written.size());
        String id = JSON.readTree(made.body()).get("reservation_id").textValue();
        RawClient.request(gateway.port, "DELETE", "/router/reservations/" + id);
    }

    @Test
    void a_replay_counts_what_would_have_changed() throws Exception {
        start(8);
        for (int i = 0; i < 4; i++) {
            request("r" + i);
        }
        RawClient.Answer answer =
                RawClient.post(
                        gateway.port, "/router/replay", "{\"mode\":\"round-robin\",\"seed\":3}");
        assertEquals(200, answer.status(), answer.body());
        JsonNode told = JSON.readTree(answer.body());
        assertEquals(4, told.get("decisions").intValue());
        assertEquals(0, told.get("skipped").intValue());
        // 40 tokens, of which every worker holds two blocks
        assertEquals(128, told.get("predicted_cached_tokens").get("was").intValue());
        assertEquals(128, told.get("predicted_cached_tokens").get("would").intValue());
        assertEquals(32, told.get("prefill_tokens").get("was").intValue());
        assertEquals(told.get("changed").intValue(), told.get("changes").size());
        assertTrue(told.get("changed").intValue() > 0);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"mode\":\"direct\"}|mode",
                "{\"mode\":3}|mode",
                "{\"cost\":\"seconds\"}|cost",
                "{\"limits\":3}|limits",
                "{\"router_config_override\":{\"x\":1}}|router_config_override.x"
            })
    void what_is_wrong_in_a_replay_is_named(String body, String param) throws Exception {
        start(3);
        RawClient.Answer refused = RawClient.post(gateway.port, "/router/replay", body);
        assertEquals(400, refused.status());
        assertEquals(param, JSON.readTree(refused.body()).get("error").get("param").textValue());
    }

    @Test
    void both_are_for_admins_and_have_one_method() throws Exception {
        start(3);
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(
                    "GET /router/decisions HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n");
            assertEquals(403, client.readAnswer().status());
        }
        assertEquals(405, RawClient.post(gateway.port, "/router/decisions", "{}").status());
        assertEquals(405, RawClient.request(gateway.port, "GET", "/router/replay").status());
        assertEquals(
                400, RawClient.request(gateway.port, "GET", "/router/decisions?limit=0").status());
    }
}
