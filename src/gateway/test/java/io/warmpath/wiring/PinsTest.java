package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.warmpath.wiring.index.StateParts;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Cache pins through the whole gateway, by engines whose every answer about them is scripted. */
@Tag("slow")
class PinsTest {
    private static final String PIN = "/hicache/pin_prefix";
    private static final JsonObject HICACHE =
            new JsonObject().put("enable_hierarchical_cache", true);

    private final List<PinningEngine> engines = new ArrayList<>();
    private SimGateway gateway;

    @AfterEach
    void stop() throws Exception {
        if (gateway != null) {
            gateway.close();
        }
        for (PinningEngine e : engines) {
            e.close();
        }
    }

    private PinningEngine engine(JsonObject info) throws Exception {
        PinningEngine engine = new PinningEngine(info);
        engines.add(engine);
        return engine;
    }

    /**
     * @param more keys and values in turn, below {@code warmpath.} where they begin with a dot
     */
    private void start(String... more) throws Exception {
        Map<String, String> settings = new HashMap<>();
        settings.put("warmpath.session.pins.enabled", "true");
        settings.put("warmpath.models.\"demo\".path", "src/tokens/main/resources/demo-model");
        for (int i = 0; i < engines.size(); i++) {
            settings.put("warmpath.workers[" + i + "].url", engines.get(i).url().toString());
        }
        for (int i = 0; i < more.length; i += 2) {
            settings.put("warmpath." + more[i], more[i + 1]);
        }
        gateway = SimGateway.start(settings);
        if (settings.get("warmpath.session.pins.enabled").equals("true")) {
            await().until(() -> !gateway.get("/workers").body().contains("\"pins\":\"none\""));
        }
    }

    private static String body(String text, String cacheControl) {
        JsonObject body = new JsonObject().put("model", "demo").put("prompt", text.repeat(60));
        if (!cacheControl.isEmpty()) {
            body.put("nvext", new JsonObject().put("cache_control", new JsonObject(cacheControl)));
        }
        return body.encode();
    }

    private static final String FOR_600 = "{\"type\":\"ephemeral\",\"ttl\":\"600\"}";

    private HttpResponse<String> ask(String text, String cacheControl, String... headers)
            throws Exception {
        HttpResponse<String> answer =
                gateway.post("/v1/completions", body(text, cacheControl), headers);
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }

    private double pins(String result) {
        return gateway.meters.get("warmpath.pins").tag("result", result).counter().count();
    }

    private JsonObject list() throws Exception {
        return new JsonObject(gateway.get("/sessions/pins").body());
    }

    private JsonObject refused() throws Exception {
        JsonArray all = list().getJsonArray("refused");
        return all.getJsonObject(all.size() - 1);
    }

    @Test
    void a_worker_is_asked_for_the_prompts_ids_once_its_answer_has_ended() throws Exception {
        PinningEngine engine = engine(HICACHE);
        start("workers[0].name", "w");
        ask("You are kind. ", FOR_600, "authorization", "Bearer k");
        await().until(() -> pins("ok") == 1);
        assertEquals(
                List.of("/v1/completions", PIN),
                engine.asked.stream().map(PinningEngine.Asked::path).toList());
        PinningEngine.Asked asked = engine.asked(PIN).get(0);
        String ids = asked.json().getJsonArray("token_ids").encode();
        assertEquals("{\"token_ids\":" + ids + ",\"ttl_seconds\":600}", asked.body());
        assertEquals("Bearer k", asked.authorization());
        // The engine gets the same prompt as text; the ids are those of its tokenizer.
        JsonObject tokens =
                new JsonObject(
                        gateway.post(
                                        "/tokenize",
                                        new JsonObject()
                                                .put("model", "demo")
                                                .put("prompt", "You are kind. ".repeat(60))
                                                .encode())
                                .body());
        assertEquals(tokens.getJsonArray("tokens").encode(), ids);
        assertFalse(engine.asked("/v1/completions").get(0).body().contains("nvext"));

        JsonObject pin = list().getJsonArray("data").getJsonObject(0);
        assertEquals("held", pin.getString("state"));
        assertEquals("rpc", pin.getString("how"));
        assertEquals("w", pin.getString("worker"));
        assertEquals(3, pin.getInteger("nodes_pinned"));
        assertEquals(600, pin.getInteger("ttl_seconds"));
        assertEquals(tokens.getJsonArray("tokens").size(), pin.getInteger("tokens"));
        assertFalse(gateway.get("/sessions/pins").body().contains("kind"));
        assertEquals(1, gateway.gauge("warmpath.pins.held"));
        assertTrue(gateway.get("/workers").body().contains("\"pins\":\"rpc\""));
    }

    @Test
    void a_request_that_goes_on_from_a_pin_is_a_hit_and_says_so() throws Exception {
        PinningEngine engine = engine(HICACHE);
        start();
        ask("You are kind. ", FOR_600);
        await().until(() -> pins("ok") == 1);
        engine.cachedTokens = 10_000;
        HttpResponse<String> next = ask("You are kind. ", "", "x-warmpath-explain", "1");
        int blocks = list().getJsonArray("data").getJsonObject(0).getInteger("blocks");
        assertEquals(
                Integer.toString(blocks),
                next.headers().firstValue("x-warmpath-pinned-blocks").orElse("none"));
        await().until(() -> gateway.counted("warmpath.pins.hits") == 1);
        assertEquals(16 * blocks, gateway.counted("warmpath.pins.hit.tokens"));
        HttpResponse<String> other =
                ask("You are kind. ", "", "x-warmpath-explain", "1", "x-tenant-id", "other");
        assertTrue(
                other.headers().firstValue("x-warmpath-pinned-blocks").isEmpty(),
                "another tenant's prompt is another one");
        assertEquals(1, gateway.counted("warmpath.pins.hits"));
    }

    @Test
    void a_pin_that_the_engine_has_not_kept_is_forgotten() throws Exception {
        PinningEngine engine = engine(HICACHE);
        start();
        ask("You are kind. ", FOR_600);
        await().until(() -> pins("ok") == 1);
        engine.cachedTokens = 0;
        ask("You are kind. ", "");
        await().until(() -> gateway.gauge("warmpath.pins.held") == 0);
        assertEquals(1, gateway.meters.get("warmpath.pins.lost").counter().count());
    }

    @Test
    void the_worker_that_keeps_the_pin_is_preferred_and_a_busy_one_is_not_forced()
            throws Exception {
        engine(HICACHE).cachedTokens = 10_000;
        engine(HICACHE).cachedTokens = 10_000;
        start("workers[0].name", "a", "workers[1].name", "b");
        String[] told = {"x-warmpath-explain", "1"};
        String holder =
                ask("You are kind. ", FOR_600, told)
                        .headers()
                        .firstValue("x-warmpath-worker")
                        .orElseThrow();
        await().until(() -> pins("ok") == 1);
        for (int i = 0; i < 6; i++) {
            assertEquals(
                    holder,
                    ask("You are kind. ", "", told)
                            .headers()
                            .firstValue("x-warmpath-worker")
                            .orElseThrow());
        }
        // The client's own word still wins.
        String other = holder.equals("a") ? "b" : "a";
        JsonObject workers = new JsonObject(gateway.get("/workers").body());
        String id =
                workers.getJsonArray("data").stream()
                        .map(JsonObject.class::cast)
                        .filter(w -> w.getString("name").equals(other))
                        .findFirst()
                        .orElseThrow()
                        .getString("id");
        assertEquals(
                other,
                ask(
                                "You are kind. ",
                                "",
                                "x-warmpath-explain",
                                "1",
                                "x-dynamo-worker-instance-id",
                                id)
                        .headers()
                        .firstValue("x-warmpath-worker")
                        .orElseThrow());
    }

    @ParameterizedTest
    @CsvSource({
        "200,'{\"status\":\"error\",\"reject_reason\":\"budget\"}',rejected,budget",
        "200,'{\"status\":\"ok\",\"nodes_pinned\":0}',rejected,'nothing of it is in its cache any more'",
        "400,no hicache,rejected,400: no hicache",
        "404,Not Found,unsupported,/hicache/pin_prefix is not there",
        "200,<html>,rejected,not JSON: <html>"
    })
    void what_the_worker_says_is_counted_and_recorded(
            int status, String body, String result, String reason) throws Exception {
        PinningEngine engine = engine(HICACHE);
        engine.pins = (a, r) -> r.response().setStatusCode(status).end(body);
        start();
        ask("You are kind. ", FOR_600);
        await().until(() -> pins(result) == 1);
        assertEquals(reason, refused().getString("reason"));
        assertEquals(result, refused().getString("result"));
        assertEquals(0, gateway.gauge("warmpath.pins.held"));
        assertEquals(1, engine.asked(PIN).size(), "not tried again");
        if (result.equals("unsupported")) {
            ask("You are kind. ", FOR_600);
            await().until(() -> pins(result) == 2);
            assertEquals(1, engine.asked(PIN).size(), "nor for the next one");
        }
    }

    @Test
    void what_may_go_well_another_time_is_tried_again() throws Exception {
        PinningEngine engine = engine(HICACHE);
        AtomicInteger tries = new AtomicInteger();
        engine.pins =
                (a, r) ->
                        r.response()
                                .setStatusCode(tries.getAndIncrement() == 0 ? 503 : 200)
                                .end("{\"status\":\"ok\",\"nodes_pinned\":1}");
        start();
        ask("You are kind. ", FOR_600);
        await().until(() -> pins("ok") == 1);
        assertEquals(2, tries.get());
        assertEquals(1, gateway.meters.get("warmpath.pins.retries").counter().count());
        assertEquals(engine.asked(PIN).get(0), engine.asked(PIN).get(1), "the same once more");
    }

    @Test
    void a_route_that_hangs_holds_up_no_client_and_what_waits_is_bounded() throws Exception {
        PinningEngine engine = engine(HICACHE);
        engine.pins = (a, r) -> {}; // never answers
        start(
                "session.pins.timeout", "300ms",
                "session.pins.retries", "0",
                "session.pins.queue-size", "5");
        for (int i = 0; i < 12; i++) {
            ask("Talk " + i + " is long. ", FOR_600);
        }
        await().until(() -> pins("queue_full") + pins("failed") == 12);
        assertTrue(pins("queue_full") >= 1, "more came than may wait");
        assertTrue(pins("failed") >= 5, "what waited was asked for");
        assertEquals(0, gateway.gauge("warmpath.pins.held"));
        assertEquals("no answer within 300 ms", firstFailure());
    }

    private String firstFailure() throws Exception {
        return list().getJsonArray("refused").stream()
                .map(JsonObject.class::cast)
                .filter(r -> r.getString("result").equals("failed"))
                .findFirst()
                .orElseThrow()
                .getString("reason");
    }

    @Test
    void a_tenants_quota_is_its_own_and_nothing_is_sent_beyond_it() throws Exception {
        PinningEngine engine = engine(HICACHE);
        start("session.pins.tenant-max", "1");
        ask("You are kind. ", FOR_600, "x-tenant-id", "acme");
        await().until(() -> pins("ok") == 1);
        ask("You are calm. ", FOR_600, "x-tenant-id", "acme");
        await().until(() -> pins("quota") == 1);
        assertEquals("the tenant has 1 pins", refused().getString("reason"));
        ask("You are calm. ", FOR_600, "x-tenant-id", "other");
        await().until(() -> pins("ok") == 2);
        assertEquals(2, engine.asked(PIN).size());
        assertEquals("acme", engine.asked(PIN).get(0).json().getString("cache_salt"));
        assertFalse(gateway.get("/sessions/pins").body().contains("acme"));
    }

    @Test
    void an_operator_ends_a_pin() throws Exception {
        engine(HICACHE);
        start();
        ask("You are kind. ", FOR_600);
        await().until(() -> pins("ok") == 1);
        for (String path : List.of("/sessions/pins", "/sessions/pins/1")) {
            assertEquals(
                    403,
                    gateway.get(path, "x-forwarded-for", "10.0.0.1").statusCode(),
                    "a client behind a proxy");
        }
        assertEquals(200, gateway.get("/sessions/pins/1").statusCode());
        assertEquals(204, gateway.delete("/sessions/pins/1").statusCode());
        assertEquals(404, gateway.delete("/sessions/pins/1").statusCode());
        assertEquals(404, gateway.get("/sessions/pins/x").statusCode());
        assertEquals(400, gateway.get("/sessions/pins?limit=0").statusCode());
        assertEquals(0, list().getInteger("total"));
    }

    @Test
    void a_gateway_that_is_started_again_knows_its_pins(@TempDir Path folder) throws Exception {
        PinningEngine engine = engine(HICACHE);
        String state = folder.resolve("state").toString();
        start("state.directory", state);
        ask("You are kind. ", FOR_600, "x-tenant-id", "acme");
        await().until(() -> pins("ok") == 1);
        JsonObject before = list().getJsonArray("data").getJsonObject(0);
        gateway.close();
        start("state.directory", state);
        assertEquals(before, list().getJsonArray("data").getJsonObject(0));
        engine.cachedTokens = 10_000;
        ask("You are kind. ", "", "x-tenant-id", "acme");
        await("found by the same name").until(() -> gateway.counted("warmpath.pins.hits") == 1);
        gateway.close();
        byte[] file = Files.readAllBytes(folder.resolve("state/pins"));
        file[file.length - 6] ^= 1;
        Files.write(folder.resolve("state/pins"), file);
        start("state.directory", state);
        assertEquals(0, list().getInteger("total"), "damaged: begun anew, not refused to start");
    }

    @Test
    void told_to_reset_a_gateway_takes_up_nothing_of_its_directory(@TempDir Path folder)
            throws Exception {
        engine(HICACHE);
        String state = folder.resolve("state").toString();
        start("state.directory", state);
        ask("You are kind. ", FOR_600);
        await().until(() -> pins("ok") == 1);
        gateway.close();
        Logs logs = new Logs(StateParts.class);
        try {
            start("state.directory", state, "state.shared.reset", "true");
            assertEquals(
                    List.of("--router-reset-states: what lies in " + state + " is not taken up"),
                    logs.at(Level.INFO));
        } finally {
            logs.close();
        }
        assertEquals(0, list().getInteger("total"));
    }

    @Test
    void without_the_flag_a_pin_passes_and_is_counted() throws Exception {
        PinningEngine engine = engine(HICACHE);
        start("session.pins.enabled", "false");
        ask("You are kind. ", FOR_600);
        ask("You are kind. ", FOR_600);
        assertEquals(2, pins("disabled"));
        assertEquals(0, engine.asked(PIN).size());
        assertFalse(list().getBoolean("enabled"));
        assertEquals(404, gateway.get("/sessions/pins/1").statusCode());
    }

    @Test
    void a_request_with_a_pin_is_sent_with_a_priority_where_that_keeps_it() throws Exception {
        PinningEngine engine = engine(new JsonObject().put("radix_eviction_policy", "priority"));
        start("session.pins.priority", "3");
        ask("You are kind. ", "");
        ask("You are kind. ", FOR_600);
        await().until(() -> pins("ok") == 1);
        List<PinningEngine.Asked> asked = engine.asked("/v1/completions");
        assertFalse(asked.get(0).body().contains("priority"));
        assertEquals(3, asked.get(1).json().getInteger("priority"));
        assertEquals("priority", list().getJsonArray("data").getJsonObject(0).getString("how"));
        JsonObject own = new JsonObject(body("You are calm. ", FOR_600));
        own.getJsonObject("nvext").put("agent_hints", new JsonObject().put("priority", -2));
        gateway.post("/v1/completions", own.encode());
        await().until(() -> pins("rejected") == 1);
        assertEquals(-2, engine.asked("/v1/completions").get(2).json().getInteger("priority"));
        assertEquals(2, engine.asked.stream().filter(a -> a.body().contains("priority")).count());
    }

    @Test
    void the_envelope_rides_in_a_request_over_the_prefix() throws Exception {
        PinningEngine engine = engine(HICACHE);
        start("workers[0].pins", "kv-hints");
        gateway.post("/v1/completions", body("You are kind. ", FOR_600), "x-request-id", "r7");
        await().until(() -> pins("ok") == 1);
        PinningEngine.Asked asked = engine.asked("/v1/completions").get(1);
        String ids = asked.json().getJsonArray("prompt").encode();
        assertEquals(
                "{\"model\":\"demo\",\"prompt\":"
                        + ids
                        + ",\"max_tokens\":1,\"temperature\":0,\"stream\":false,"
                        + "\"kv_hints\":{\"protocol_version\":\"0.1\",\"message_id\":\"r7-pin\","
                        + "\"actions\":[{\"action_id\":\"0\",\"action_type\":\"Pin\","
                        + "\"action_version\":\"0.1\",\"payload\":{\"ttl_seconds\":600}}]}}",
                asked.body());
        assertEquals(0, engine.asked(PIN).size());
    }

    @Test
    void a_worker_without_a_better_way_is_asked_for_the_prefix_again_and_again() throws Exception {
        PinningEngine engine = engine(new JsonObject());
        engine.cachedTokens = 10_000;
        start("session.pins.keep-alive.interval", "200ms");
        ask("You are kind. ", FOR_600);
        await().until(() -> keepAlives("kept") >= 2);
        List<PinningEngine.Asked> asked = engine.asked("/v1/completions");
        String ids = asked.get(1).json().getJsonArray("prompt").encode();
        assertEquals(
                "{\"model\":\"demo\",\"prompt\":"
                        + ids
                        + ",\"max_tokens\":1,\"temperature\":0,\"stream\":false}",
                asked.get(1).body());
        assertEquals(
                1, gateway.meters.get("warmpath.requests").tag("outcome", "ok").counter().count());
        engine.cachedTokens = 0;
        await().until(() -> keepAlives("computed") >= 1);
        assertEquals(204, gateway.delete("/sessions/pins/1").statusCode());
        double last = keepAlives("kept") + keepAlives("computed");
        ask("Something else. ", "");
        assertTrue(keepAlives("kept") + keepAlives("computed") <= last + 1, "it ends with the pin");
    }

    private double keepAlives(String result) {
        return gateway.meters
                .get("warmpath.pins.keep.alives")
                .tag("result", result)
                .counter()
                .count();
    }

    @Test
    void a_worker_without_any_way_is_counted() throws Exception {
        PinningEngine engine = engine(HICACHE);
        start("session.pins.keep-alive.concurrency", "0", "workers[0].pins", "keep-alive");
        ask("You are kind. ", FOR_600);
        await().until(() -> pins("unsupported") == 1);
        assertEquals(1, engine.asked.size());
        assertNotNull(refused().getString("worker_id"));
    }
}
