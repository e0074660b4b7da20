package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.wire.WireFormat;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A model without files here, whose engines make the token ids that its prompts are routed by. */
class AskEngineTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String CHAT =
            "{\"model\":\"demo\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\""
                    + "word ".repeat(100)
                    + "\"}]}";

    private SimGateway gateway;

    @AfterEach
    void close() throws Exception {
        gateway.close();
    }

    private void start(Map<String, String> settings) throws Exception {
        gateway =
                SimGateway.start(
                        settings,
                        SimOptions.builder()
                                .wire(WireFormat.VLLM_MAP)
                                .prefillTokensPerSecond(1e6)
                                .interToken(Duration.ofNanos(100_000)),
                        SimOptions.builder()
                                .wire(WireFormat.SGLANG_MAP)
                                .prefillTokensPerSecond(1e6)
                                .interToken(Duration.ofNanos(100_000)));
    }

    private HttpResponse<String> ask() throws Exception {
        HttpResponse<String> answer =
                gateway.post("/v1/chat/completions", CHAT, "x-warmpath-explain", "1");
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }

    private double counted(String name, String tag, String value) {
        return gateway.meters.get(name).tag(tag, value).counter().count();
    }

    @Test
    void its_chats_go_where_their_prefix_is() throws Exception {
        start(Map.of());
        assertTrue(gateway.get("/workers").body().contains("\"tokens\":{\"demo\":\"engine\"}"));
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(
                        () -> {
                            HttpResponse<String> answer = ask();
                            assertEquals(
                                    "engine",
                                    answer.headers().firstValue("x-warmpath-tokens").orElse(""));
                            int reported =
                                    JSON.readTree(answer.body())
                                            .at("/usage/prompt_tokens_details/cached_tokens")
                                            .asInt(0);
                            assertTrue(reported > 0);
                            assertEquals(
                                    Integer.toString(reported),
                                    answer.headers()
                                            .firstValue("x-warmpath-predicted-cached-tokens")
                                            .orElse(""));
                        });
        assertTrue(counted("warmpath.engine.tokenize", "result", "answered") >= 2);
        assertTrue(gateway.counted("warmpath.engine.tokenize.remembered") > 0);
        assertEquals(0, counted("warmpath.requests.without.tokens", "cause", "unknown"));
        assertEquals(0, counted("warmpath.prompt.lengths", "result", "differs"));
    }

    @Test
    void nobody_is_asked_where_that_is_forbidden() throws Exception {
        start(Map.of("warmpath.models.\"demo\".ask-engine", "false"));
        HttpResponse<String> answer = ask();
        assertEquals("", answer.headers().firstValue("x-warmpath-prompt-tokens").orElse(""));
        assertEquals(0, counted("warmpath.engine.tokenize", "result", "answered"));
        assertEquals("text prefix", answer.headers().firstValue("x-warmpath-tokens").orElse(""));
    }
}
