package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.access.KeyHash;
import io.warmpath.sim.SimOptions;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What operators read of tenants and of the fleet, after requests through the whole gateway. */
class FleetAndUsageTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String HEAVY = "heavy-0123456789abcdefghijklmnop";
    private static final String LIGHT = "light-0123456789abcdefghijklmnop";

    /** 160 tokens: 10 blocks of 16. */
    private static final String PROMPT =
            IntStream.range(0, 160)
                    .mapToObj(i -> Integer.toString(i * 31 % 9_000))
                    .collect(Collectors.joining(",", "[", "]"));

    @TempDir private Path folder;

    private SimGateway gateway;

    @BeforeEach
    void start() throws Exception {
        Path keys =
                Files.writeString(
                        folder.resolve("keys.yaml"),
                        "keys:\n"
                                + key("heavy", HEAVY, "acme", ", requests-per-minute: 60")
                                + key("light", LIGHT, "", ", explain: true"));
        gateway =
                SimGateway.start(
                        Map.of(
                                "warmpath.auth.key-file",
                                keys.toString(),
                                "warmpath.telemetry.usage.price-per-million-prompt-tokens",
                                "500"),
                        SimOptions.builder().prefillTokensPerSecond(1e6),
                        SimOptions.builder().prefillTokensPerSecond(1e6));
    }

    private static String key(String name, String key, String tenant, String more) {
        return "  - { name: "
                + name
                + (tenant.isEmpty() ? "" : ", tenant: " + tenant)
                + ", sha256: "
                + KeyHash.of(key).hex()
                + more
                + " }\n";
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
    }

    private int ask(String key, String model) throws Exception {
        return gateway.post(
                        "/v1/completions",
                        "{\"model\":\""
                                + model
                                + "\",\"prompt\":"
                                + PROMPT
                                + ",\"max_tokens\":4,\"ignore_eos\":true}",
                        "authorization",
                        "Bearer " + key)
                .statusCode();
    }

    private JsonNode get(String path) throws Exception {
        HttpResponse<String> answer = gateway.get(path);
        assertEquals(200, answer.statusCode(), answer.body());
        return JSON.readTree(answer.body());
    }

    private void assertRefused(String path, String parameter) throws Exception {
        HttpResponse<String> answer = gateway.get(path);
        assertEquals(400, answer.statusCode(), answer.body());
        assertTrue(answer.body().contains("`" + parameter + "`"), answer.body());
    }

    /** The answer reaches the client before its books are closed. */
    private void awaitRequests(int requests) {
        await().untilAsserted(
                        () ->
                                assertEquals(
                                        requests,
                                        get("/usage").path("total").path("requests").asInt()));
    }

    @Test
    void usage_says_who_has_used_what_and_what_caching_has_saved() throws Exception {
        assertEquals(200, ask(HEAVY, "demo"));
        awaitRequests(1);
        // The second is sent where the first one is cached: 9 of 10 blocks, as one is computed.
        assertEquals(200, ask(HEAVY, "demo"));
        assertEquals(404, ask(HEAVY, "made-up"));
        assertEquals(200, ask(LIGHT, "demo"));
        awaitRequests(4);
        JsonNode usage = get("/usage?window=5m");
        assertEquals("5m", usage.path("window").asText());
        assertEquals(500.0, usage.path("price_per_million_prompt_tokens").asDouble());
        assertEquals("USD", usage.path("currency").asText());
        assertEquals(3, usage.path("rows").size());
        JsonNode acme = usage.path("rows").get(0);
        assertEquals("acme", acme.path("tenant").asText());
        assertEquals("demo", acme.path("model").asText());
        assertEquals(2, acme.path("requests").asInt());
        assertEquals(0, acme.path("errors").asInt());
        assertEquals(320, acme.path("prompt_tokens").asInt());
        assertEquals(8, acme.path("output_tokens").asInt());
        long cached = acme.path("cached_tokens").asLong();
        assertTrue(cached >= 144 && cached < 320, acme.toString());
        assertTrue(acme.path("saved_prefill_ms").asDouble() > 0, acme.toString());
        assertEquals(cached * 500 / 1e6, acme.path("saved_money").asDouble(), 1e-9);
        JsonNode nobody = usage.path("rows").get(1);
        assertFalse(nobody.has("tenant"));
        assertEquals(160, nobody.path("prompt_tokens").asInt());
        JsonNode unserved = usage.path("rows").get(2);
        assertFalse(unserved.has("model"), "a client's word is no model");
        assertEquals("acme", unserved.path("tenant").asText());
        assertEquals(1, unserved.path("refused").asInt());
        assertEquals(4, usage.path("total").path("requests").asInt());
        assertEquals(480, usage.path("total").path("prompt_tokens").asInt());
        JsonNode limits = usage.path("limits");
        assertEquals(1, limits.size());
        assertEquals("heavy", limits.get(0).path("client").asText());
        assertEquals("acme", limits.get(0).path("tenant").asText());
        assertEquals(60, limits.get(0).path("requests_per_minute").asInt());
        assertTrue(limits.get(0).path("requests_left").asInt() < 60, limits.toString());
        assertFalse(limits.get(0).has("tokens_left"));
        assertEquals(2, get("/usage?by=tenant").path("rows").size());
        assertEquals(2, get("/usage?by=model&window=total").path("rows").size());
        assertRefused("/usage?window=2h", "window");
        assertRefused("/usage?by=worker", "by");
        assertRefused("/usage?tenant=a", "tenant");
        // Before anybody knows whose it is.
        assertEquals(401, ask("sk-nobodys-key-nobodys-key-nobodys-key", "demo"));
        awaitRequests(5);
        assertEquals(2, get("/usage").path("total").path("refused").asInt());
    }

    @Test
    void the_fleet_says_why_something_was_not_predicted() throws Exception {
        assertEquals(200, ask(LIGHT, "demo"));
        awaitRequests(1);
        assertEquals("[]", get("/fleet").path("gateway").path("not_exact").toString());
        HttpResponse<String> hidden =
                gateway.post(
                        "/v1/completions",
                        "{\"model\":\"demo\",\"max_tokens\":2,\"suffix\":\"s\",\"prompt\":"
                                + PROMPT
                                + "}",
                        "authorization",
                        "Bearer " + LIGHT,
                        "x-warmpath-explain",
                        "1");
        assertEquals(200, hidden.statusCode(), hidden.body());
        assertEquals(
                "a member hides the prompt's tokens",
                hidden.headers().firstValue("x-warmpath-not-predicted").orElse(""));
        await().untilAsserted(
                        () -> {
                            JsonNode said = get("/fleet").path("gateway").path("not_exact");
                            assertEquals(1, said.size(), said.toString());
                            assertEquals("prompt_hidden", said.get(0).path("reason").asText());
                            assertEquals(1, said.get(0).path("answers").asInt());
                        });
        JsonNode row = get("/router/decisions?limit=1").path("decisions").get(0);
        assertEquals("prompt_hidden", row.path("not_exact").asText(), row.toString());
        assertTrue(row.path("predicted_cached_tokens").isMissingNode(), row.toString());
        assertEquals(
                "prompt_hidden", row.path("decision").path("chosen").path("not_exact").asText());
    }

    @Test
    void the_fleet_says_how_each_worker_does() throws Exception {
        for (int i = 0; i < 3; i++) {
            assertEquals(200, ask(LIGHT, "demo"));
            awaitRequests(i + 1);
        }
        await().untilAsserted(
                        () ->
                                assertEquals(
                                        3,
                                        get("/fleet")
                                                .path("workers")
                                                .valueStream()
                                                .mapToInt(w -> w.path("requests").asInt())
                                                .sum()));
        JsonNode fleet = get("/fleet");
        JsonNode gateway = fleet.path("gateway");
        assertTrue(gateway.path("ready").asBoolean(), gateway.toString());
        assertEquals("kv", gateway.path("mode").asText());
        assertEquals("latency", gateway.path("cost").asText());
        assertEquals("[\"demo\"]", gateway.path("models").toString());
        assertEquals("[]", gateway.path("degraded").toString());
        assertEquals(0, gateway.path("active").asInt());
        assertTrue(gateway.path("ttft_ms").asDouble() > 0, gateway.toString());
        assertEquals(2, fleet.path("workers").size());
        JsonNode busy =
                fleet.path("workers").get(0).path("requests").asInt() == 3
                        ? fleet.path("workers").get(0)
                        : fleet.path("workers").get(1);
        assertEquals(3, busy.path("requests").asInt(), "all go where the prompt is cached");
        assertEquals(0, busy.path("failed").asInt());
        assertEquals("ready", busy.path("state").asText());
        assertTrue(busy.path("hit_rate").asDouble() > 0.5, busy.toString());
        JsonNode prediction = busy.path("prediction");
        assertEquals(
                3,
                prediction.path("equal").asInt()
                        + prediction.path("over").asInt()
                        + prediction.path("under").asInt());
        JsonNode rank = busy.path("ranks").get(0);
        assertEquals(0, rank.path("running").asInt());
        assertEquals("following", rank.path("events").path("state").asText());
        assertEquals(1.0, rank.path("events").path("trust").asDouble());
        // Events come after answers: the prompt's 10 blocks lie there, and only there.
        await().untilAsserted(
                        () ->
                                assertEquals(
                                        List.of(0L, 10L),
                                        get("/fleet?history=false")
                                                .path("workers")
                                                .valueStream()
                                                .map(w -> w.path("ranks").get(0).path("tiers"))
                                                .map(x -> x.path("gpu_blocks").asLong(-1))
                                                .sorted()
                                                .toList()));
        JsonNode tiers = rank.path("tiers");
        for (String lower : List.of("host_blocks", "disk_blocks", "external_blocks")) {
            assertEquals(0, tiers.path(lower).asLong(-1), lower);
        }
        JsonNode history = busy.path("history");
        assertEquals(10, history.path("step_s").asInt());
        for (String series :
                new String[] {
                    "requests",
                    "ttft_ms",
                    "hit_rate",
                    "prefill_tokens",
                    "kv_blocks",
                    "predicted_tokens",
                    "reported_tokens"
                }) {
            assertEquals(90, history.path(series).size(), series);
        }
        assertTrue(history.path("ttft_ms").get(0).isNull());
        assertFalse(get("/fleet?history=false").path("workers").get(0).has("history"));
        assertRefused("/fleet?history=maybe", "history");
        assertRefused("/fleet?worker=w", "worker");
    }
}
