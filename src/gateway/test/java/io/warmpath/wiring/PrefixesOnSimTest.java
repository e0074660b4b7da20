package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.wire.WireFormat;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Hot prefixes of a whole gateway, and what an operator may ask of a prompt. */
class PrefixesOnSimTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String SYSTEM = "Always answer in rhyme. ".repeat(30);

    private SimGateway gateway;

    private void start(String index, boolean texts) throws Exception {
        Map<String, String> settings = new HashMap<>();
        settings.put("warmpath.index.implementation", index);
        settings.put("warmpath.explain.prefix-text", Boolean.toString(texts));
        settings.put("warmpath.models.\"m\".path", "src/tokens/main/resources/demo-model");
        gateway =
                SimGateway.start(
                        settings, engine(WireFormat.SGLANG_MAP), engine(WireFormat.SGLANG_MAP));
    }

    private static SimOptions.Builder engine(WireFormat wire) {
        return SimOptions.builder()
                .wire(wire)
                .models(List.of("m"))
                .prefillTokensPerSecond(1e6)
                .interToken(Duration.ofNanos(100_000));
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
    }

    private void chat(String question) throws Exception {
        HttpResponse<String> answer =
                gateway.post(
                        "/v1/chat/completions", "{\"max_tokens\":1," + body(question).substring(1));
        assertEquals(200, answer.statusCode(), answer.body());
    }

    private static String body(String question) {
        return "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\""
                + SYSTEM
                + "\"},{\"role\":\"user\",\"content\":\""
                + question
                + "\"}]}";
    }

    private JsonNode prefixes(String query) throws Exception {
        HttpResponse<String> answer = gateway.get("/router/prefixes" + query);
        assertEquals(200, answer.statusCode(), answer.body());
        return JSON.readTree(answer.body());
    }

    @ParameterizedTest
    @CsvSource({"native, false", "java, true"})
    void what_prompts_have_in_common_is_told_with_who_holds_it(String index, boolean texts)
            throws Exception {
        start(index, texts);
        assertEquals(0, prefixes("").get("prefixes").size());
        Instant before = Instant.now().minusMillis(1);
        for (int i = 0; i < 5; i++) {
            chat(i + " is a number. " + "What of it? ".repeat(20));
        }
        await().atMost(SOON)
                .until(() -> prefixes("").at("/prefixes/0/holders/0/gpu_blocks").asInt() > 0);
        JsonNode all = prefixes("?limit=1&model=m");
        assertEquals(1, all.get("prefixes").size());
        JsonNode hot = all.get("prefixes").get(0);
        assertEquals("m", hot.get("model").asText());
        int blocks = hot.get("blocks").asInt();
        int size = hot.get("block_size").asInt();
        assertEquals(blocks * size, hot.get("tokens").asInt());
        assertEquals(5, hot.get("hits").asDouble(), 0.1);
        assertTrue(Instant.parse(hot.get("last").asText()).isAfter(before), hot::toString);
        assertEquals(texts, all.get("text_kept").asBoolean());
        assertEquals(texts ? "system: " + SYSTEM.substring(0, 72) : "", hot.path("text").asText());
        assertTrue(all.get("index").get("blocks").asLong() > blocks, all::toString);
        assertTrue(all.at("/evictions/blocks_stored").asLong() > blocks, all::toString);
        assertEquals("m", all.at("/evictions/recomputed/0/model").asText());
        assertFalse(all.has("pools"));
        assertEquals(0, prefixes("?model=other").get("prefixes").size());

        // The same to the block, asked by a prompt.
        JsonNode asked = JSON.readTree(gateway.post("/router/ask", body("something else")).body());
        assertEquals(
                JSON.readTree(gateway.post("/router/explain", body("something else")).body()),
                asked);
        assertTrue(asked.get("tokens_known").asBoolean());
        JsonNode holder = hot.get("holders").get(0);
        String held = asked.at("/decision/candidates").toString();
        assertEquals(hot.get("held_by").asInt(), hot.get("holders").size());
        for (JsonNode c : asked.at("/decision/candidates")) {
            if (c.get("worker").asText().equals(holder.get("worker").asText())) {
                assertEquals(blocks, holder.get("gpu_blocks").asInt(), held);
            }
        }
        for (String wrong : List.of("?limit=0", "?limit=1001", "?most=1", "?limit=1&limit=2")) {
            assertEquals(400, gateway.get("/router/prefixes" + wrong).statusCode(), wrong);
        }
    }
}
