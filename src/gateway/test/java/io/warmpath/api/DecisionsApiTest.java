package io.warmpath.api;

import static org.awaitility.Awaitility.await;
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
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
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
        start(
                kept < 0
                        ? DecisionLog.OFF
                        : log(new DecisionLog.Bounds(kept, 1 << 20, 1000, 0), sink()));
    }

    /** Whose second never passes. */
    private static DecisionLog log(DecisionLog.Bounds bounds, DecisionLog.@Nullable Sink sink) {
        return new DecisionLog(bounds, sink, InstantSource.fixed(NOW), () -> 0);
    }

    private void start(DecisionLog log) throws Exception {
        gateway = new Gateway(EnginePath.RAW, log);
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
        for (var member : line.properties()) {
            assertEquals(member.getValue(), last.get(member.getKey()), member.getKey());
        }
        JsonNode kept = all.get("kept");
        assertEquals(3, kept.get("decisions").intValue());
        assertEquals(3, kept.get("most_decisions").intValue());
        assertEquals(1 << 20, kept.get("most_bytes").intValue());
        assertEquals(0, kept.get("left_out").intValue());
        assertEquals(NOW.toString(), kept.get("since").textValue());
        assertTrue(kept.get("bytes").intValue() > 3 * 500, kept::toString);
    }

    @Test
    void a_row_says_who_asked_what_was_predicted_and_how_it_ended() throws Exception {
        start(3);
        engine.script(
                call ->
                        call.json(
                                200,
                                "{\"choices\":[],\"usage\":{\"prompt_tokens\":40,"
                                        + "\"completion_tokens\":7,"
                                        + "\"prompt_tokens_details\":{\"cached_tokens\":16}}}"));
        gateway.post(
                Gateway.ASK_WHOLE,
                "x-request-id: a",
                "x-session-id: s1",
                "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        JsonNode row = ended("a");
        assertEquals("0af7651916cd43dd8448eb211c80319c", row.get("trace_id").textValue());
        assertEquals("s1", row.get("session").textValue());
        assertEquals("/v1/chat/completions", row.get("path").textValue());
        assertEquals(1, row.get("attempt").intValue());
        assertEquals("first", row.get("cause").textValue());
        assertEquals(row.at("/decision/chosen/worker"), row.get("worker"));
        assertEquals(0, row.get("dp_rank").intValue());
        assertEquals(40, row.get("prompt_tokens").intValue());
        assertEquals(32, row.get("predicted_cached_tokens").intValue());
        assertEquals(row.at("/decision/chosen/cost"), row.get("cost"));
        assertEquals("latency", row.get("cost_model").textValue());
        assertEquals(row.at("/decision/reason"), row.get("reason"));
        assertEquals(2, row.get("candidates").intValue());
        assertTrue(row.get("detailed").booleanValue());
        assertEquals(200, row.get("status").intValue());
        assertEquals(16, row.get("reported_cached_tokens").intValue());
        assertEquals(7, row.get("output_tokens").intValue());
        assertEquals(0, row.get("queue_ms").doubleValue());
        assertTrue(row.get("ttft_ms").doubleValue() > 0);
        assertTrue(row.get("total_ms").doubleValue() >= row.get("ttft_ms").doubleValue());
        for (String unknown : List.of("tenant", "problem", "block_tokens", "prompt_blocks")) {
            assertFalse(row.has(unknown), unknown);
        }
    }

    private JsonNode ended(String id) throws Exception {
        await().until(
                        () ->
                                get("/router/decisions?request_id=" + id)
                                        .at("/decisions/0/ended")
                                        .asBoolean());
        return get("/router/decisions?request_id=" + id).at("/decisions/0");
    }

    @Test
    void a_second_worker_is_a_second_row() throws Exception {
        start(8);
        AtomicInteger calls = new AtomicInteger();
        engine.script(
                call -> call.json(calls.getAndIncrement() == 0 ? 503 : 200, "{\"choices\":[]}"));
        request("a");
        ended("a");
        List<JsonNode> rows =
                get("/router/decisions?request_id=a").get("decisions").valueStream().toList();
        assertEquals(2, rows.size());
        assertEquals("retry", rows.getFirst().get("cause").textValue());
        assertEquals(2, rows.getFirst().get("attempt").intValue());
        assertEquals("first", rows.getLast().get("cause").textValue());
        assertTrue(rows.getLast().get("ended").booleanValue());
        assertEquals(503, rows.getLast().get("status").intValue());
        assertFalse(rows.getLast().get("problem").textValue().isEmpty());
        assertEquals(1, get("/router/decisions?outcome=failed").get("decisions").size());
    }

    @Test
    void rows_are_found_by_what_they_say() throws Exception {
        start(8);
        for (String id : List.of("a", "b", "c")) {
            gateway.post(Gateway.ASK_WHOLE, "x-request-id: " + id, "x-session-id: s" + id);
            ended(id);
        }
        String worker = get("/router/decisions?number=1").at("/decisions/0/worker").textValue();
        Map<String, Integer> found =
                Map.ofEntries(
                        Map.entry("request_id=b", 1),
                        Map.entry("request_id=nonexistent", 0),
                        Map.entry("session=sc", 1),
                        Map.entry("session=sc&request_id=b", 0),
                        Map.entry("model=m", 3),
                        Map.entry("model=n", 0),
                        Map.entry("tenant=t", 0),
                        Map.entry("worker=nobody", 0),
                        Map.entry("outcome=ok", 3),
                        Map.entry("outcome=running", 0),
                        Map.entry("number=2", 1),
                        Map.entry("number=3", 0),
                        Map.entry("limit=2", 2),
                        Map.entry("since=2026-01-02T03:04:05Z", 3),
                        Map.entry("since=2026-01-02T03:04:06Z", 0),
                        Map.entry("since=5m", 0),
                        Map.entry("request_id=", 3));
        for (Map.Entry<String, Integer> one : found.entrySet()) {
            assertEquals(
                    one.getValue(),
                    get("/router/decisions?" + one.getKey()).get("decisions").size(),
                    one.getKey());
        }
        JsonNode ofWorker = get("/router/decisions?worker=" + worker).get("decisions");
        assertTrue(ofWorker.size() > 0);
        ofWorker.forEach(row -> assertEquals(worker, row.get("worker").textValue()));
        JsonNode brief = get("/router/decisions?detail=false").at("/decisions/0");
        assertFalse(brief.has("decision"));
        assertTrue(brief.has("reason"));
    }

    @ParameterizedTest
    @CsvSource({
        "requestid=a,requestid",
        "number=-1,number",
        "number=x,number",
        "limit=10001,limit",
        "since=yesterday,since",
        "since=5w,since",
        "detail=no,detail",
        "outcome=bad,outcome",
        "model=a&model=b,model"
    })
    void a_wrong_parameter_is_named(String query, String param) throws Exception {
        start(3);
        RawClient.Answer refused =
                RawClient.request(gateway.port, "GET", "/router/decisions?" + query);
        assertEquals(400, refused.status());
        assertEquals(param, JSON.readTree(refused.body()).at("/error/param").textValue());
    }

    @Test
    void terms_are_kept_for_as_many_candidates_as_the_budget_has_and_costs_for_all()
            throws Exception {
        start(log(new DecisionLog.Bounds(8, 1 << 20, 1000, 3), null));
        request("a");
        request("b");
        JsonNode whole = get("/router/decisions?request_id=a").at("/decisions/0");
        JsonNode brief = get("/router/decisions?request_id=b").at("/decisions/0");
        assertTrue(whole.get("detailed").booleanValue());
        assertFalse(brief.get("detailed").booleanValue());
        assertTrue(whole.at("/decision/candidates/0").has("terms"));
        assertFalse(brief.at("/decision/candidates/0").has("terms"));
        assertTrue(brief.at("/decision/candidates/0").has("cost"));
        assertTrue(gateway.router.requests.getLast().matches().size() > 0);
        RawClient.Answer replay = RawClient.post(gateway.port, "/router/replay", "{}");
        JsonNode told = JSON.readTree(replay.body());
        assertEquals(1, told.get("decisions").intValue());
        assertEquals(1, told.get("skipped").intValue());
    }

    @Test
    void what_comes_too_fast_is_counted_and_left_out() throws Exception {
        start(log(new DecisionLog.Bounds(8, 1 << 20, 2, 100), null));
        for (String id : List.of("a", "b", "c", "d")) {
            request(id);
        }
        JsonNode all = get("/router/decisions");
        assertEquals(List.of("b", "a"), ids(all));
        assertEquals(2, all.at("/kept/left_out").intValue());
    }

    @Test
    void nothing_of_the_prompt_is_kept() throws Exception {
        DecisionLog log = log(new DecisionLog.Bounds(8, 1 << 20, 9, 100), null);
        start(log);
        request("a");
        assertFalse(gateway.router.requests.getFirst().prompts().isEmpty());
        assertEquals(List.of(), log.latest(1).getFirst().decision().request().prompts());
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
