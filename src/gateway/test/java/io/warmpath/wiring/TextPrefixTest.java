package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.wire.WireFormat;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A model without a tokenizer here, and engines that are not asked for tokens: conversations stay
 * with the engine that has their prefix because their texts do.
 */
@Tag("slow")
class TextPrefixTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CONVERSATIONS = 10;
    private static final int TURNS = 5;

    private SimGateway gateway;

    @AfterEach
    void close() throws Exception {
        gateway.close();
    }

    private static SimOptions.Builder engine(WireFormat wire) {
        return SimOptions.builder()
                .wire(wire)
                .prefillTokensPerSecond(1e6)
                .interToken(Duration.ofNanos(100_000));
    }

    private void start(Map<String, String> more) throws Exception {
        Map<String, String> settings = new HashMap<>(more);
        settings.put("warmpath.models.\"demo\".ask-engine", "false");
        gateway =
                SimGateway.start(
                        settings,
                        engine(WireFormat.VLLM_MAP),
                        engine(WireFormat.SGLANG_MAP),
                        engine(WireFormat.VLLM_ARRAY),
                        engine(WireFormat.SGLANG_ARRAY));
    }

    /** What was asked, how much of it engines had, and who answered each conversation. */
    private record Played(double hitRate, List<Set<String>> workers) {}

    private Played play(boolean tools, long seed) throws Exception {
        Random random = new Random(seed);
        List<ArrayNode> chats = new ArrayList<>();
        List<Set<String>> workers = new ArrayList<>();
        for (int i = 0; i < CONVERSATIONS; i++) {
            ArrayNode chat = JSON.createArrayNode();
            chat.addObject()
                    .put("role", "system")
                    .put("content", "Assistant " + i + ". " + words(random, 150));
            chats.add(chat);
            workers.add(new HashSet<>());
        }
        long prompt = 0;
        long cached = 0;
        for (int turn = 0; turn < TURNS; turn++) {
            for (int i = 0; i < CONVERSATIONS; i++) {
                ArrayNode chat = chats.get(i);
                chat.addObject().put("role", "user").put("content", words(random, 60));
                ObjectNode body = JSON.createObjectNode().put("model", "demo").put("max_tokens", 2);
                body.set("messages", chat);
                if (tools) {
                    body.putArray("tools")
                            .addObject()
                            .put("type", "function")
                            .putObject("function")
                            .put("name", "weather");
                }
                HttpResponse<String> answer =
                        gateway.post(
                                "/v1/chat/completions", body.toString(), "x-warmpath-explain", "1");
                assertEquals(200, answer.statusCode(), answer.body());
                workers.get(i).add(answer.headers().firstValue("x-warmpath-worker").orElse(""));
                JsonNode usage = JSON.readTree(answer.body()).path("usage");
                prompt += usage.path("prompt_tokens").asLong();
                cached += usage.at("/prompt_tokens_details/cached_tokens").asLong();
                chat.addObject().put("role", "assistant").put("content", words(random, 20));
            }
        }
        return new Played((double) cached / prompt, workers);
    }

    private static String words(Random random, int n) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < n; i++) {
            text.append("word").append(random.nextInt(1000)).append(' ');
        }
        return text.toString();
    }

    private void stay(boolean tools) throws Exception {
        start(Map.of());
        long seed = System.nanoTime();
        Played byText = play(tools, seed);
        assertEquals(
                CONVERSATIONS * TURNS,
                gateway.meters.get("warmpath.requests.by.text").counter().count());
        assertEquals(
                0,
                gateway.meters
                        .get("warmpath.requests.without.tokens")
                        .tag("cause", "unknown")
                        .counter()
                        .count());
        assertEquals(CONVERSATIONS * TURNS, gateway.counted("warmpath.text.recorded"));
        gateway.close();
        start(Map.of("warmpath.router.mode", "round-robin"));
        Played inTurn = play(tools, seed);
        String where = "seed " + seed + ": " + byText + " against " + inTurn;
        for (Set<String> workers : byText.workers()) {
            assertEquals(1, workers.size(), where);
        }
        Set<String> all = new HashSet<>();
        byText.workers().forEach(all::addAll);
        assertTrue(all.size() > 1, where); // idle engines are as good as each other
        assertTrue(byText.hitRate() > 0.6, where);
        assertTrue(byText.hitRate() > inTurn.hitRate() + 0.2, where);
    }

    @Test
    void conversations_stay_where_their_prefix_is() throws Exception {
        stay(false);
    }

    @Test
    void conversations_with_tools_stay_too() throws Exception {
        stay(true);
    }

    @Test
    void an_explained_answer_says_so_and_predicts_nothing() throws Exception {
        start(Map.of());
        HttpResponse<String> answer = null;
        for (int i = 0; i < 2; i++) {
            answer =
                    gateway.post(
                            "/v1/completions",
                            "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":\""
                                    + "word ".repeat(500)
                                    + "\"}",
                            "x-warmpath-explain",
                            "1");
            assertEquals(200, answer.statusCode(), answer.body());
        }
        assertEquals("text prefix", answer.headers().firstValue("x-warmpath-tokens").orElse(""));
        assertEquals(
                "text prefix", answer.headers().firstValue("x-warmpath-not-predicted").orElse(""));
        for (String predicted :
                List.of(
                        "x-warmpath-prompt-tokens",
                        "x-warmpath-predicted-cached-tokens",
                        "x-warmpath-matched-blocks")) {
            assertTrue(answer.headers().firstValue(predicted).isEmpty(), predicted);
        }
        assertEquals(
                "text prefix",
                JSON.readTree(gateway.get("/workers").body()).at("/data/0/tokens/demo").asText());
        assertEquals(
                1, gateway.meters.get("warmpath.models").tag("tokens", "text").gauge().value());
        assertEquals(0, gateway.meters.get("warmpath.cached.tokens.predicted").counter().count());
    }
}
