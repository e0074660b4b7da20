package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.wire.WireFormat;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An engine begins to render its chats with another template: the whole gateway sees it, says so
 * once, does without that engine's cache, and counts on it again when all is as before.
 */
@ParameterizedClass
@EnumSource(
        value = WireFormat.class,
        names = {"VLLM_MAP", "SGLANG_MAP"})
class TokenDriftTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String OTHER = "<|im_start|>system\nOf another year.<|im_end|>\n";
    private static final String LONG = "word ".repeat(100);

    /** As in the rule: lost after 12 that differ, won after 16 that do not. */
    private static final int TO_LOSE = 12;

    private static final int TO_WIN = 16;

    @Parameter WireFormat wire;
    private SimGateway gateway;
    private Logs logs;

    @BeforeEach
    void start() throws Exception {
        logs = new Logs(SelfCheck.class);
        gateway =
                SimGateway.start(
                        Map.of(
                                "warmpath.models.\"demo\".path",
                                "src/tokens/main/resources/demo-model"),
                        SimOptions.builder()
                                .wire(wire)
                                .prefillTokensPerSecond(1e6)
                                .interToken(Duration.ofNanos(100_000)));
    }

    @AfterEach
    void stop() throws Exception {
        logs.close();
        gateway.close();
    }

    private HttpResponse<String> ask(String text) throws Exception {
        HttpResponse<String> answer =
                gateway.post(
                        "/v1/chat/completions",
                        "{\"model\":\"demo\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\","
                                + "\"content\":\""
                                + text
                                + "\"}]}",
                        "x-warmpath-explain",
                        "1");
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    private static int predicted(HttpResponse<String> answer) {
        return Integer.parseInt(header(answer, "x-warmpath-predicted-cached-tokens"));
    }

    private static int reported(HttpResponse<String> answer) throws Exception {
        JsonNode usage = JSON.readTree(answer.body()).get("usage");
        return usage.at("/prompt_tokens_details/cached_tokens").asInt(0);
    }

    private void cacheIsPredicted() {
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(
                        () -> {
                            HttpResponse<String> answer = ask(LONG);
                            assertTrue(predicted(answer) > 0);
                            assertEquals(reported(answer), predicted(answer));
                        });
    }

    @Test
    void trust_falls_with_the_template_and_comes_back_with_it() throws Exception {
        cacheIsPredicted();
        assertEquals(1, trusted());
        gateway.engines.getFirst().startTemplateWith(OTHER);
        for (int i = 0; i < TO_LOSE; i++) {
            assertEquals("", header(ask(LONG), "x-warmpath-tokens"), "after " + i);
        }
        // With the place where the prompts part, as the engine itself says.
        await().untilAsserted(() -> assertEquals(1, logs.at(Level.WARNING).size()));
        String warning = logs.at(Level.WARNING).getFirst();
        for (String part :
                List.of("demo", "plain chats", wire.sglang() ? "SGLANG" : "VLLM", "block 0, at")) {
            assertTrue(warning.contains(part), warning);
        }
        HttpResponse<String> drifted = ask(LONG);
        assertEquals("drifted", header(drifted, "x-warmpath-tokens"));
        assertEquals("the engine makes other tokens", header(drifted, "x-warmpath-not-predicted"));
        assertTrue(reported(drifted) > 0, "cached there, not counted on here");
        assertEquals(0, trusted());
        assertTrue(
                gateway.get("/workers").body().contains("\"demo: plain chats\""),
                gateway.get("/workers").body());

        // Texts pass no template: they are trusted all the time.
        HttpResponse<String> text =
                gateway.post(
                        "/v1/completions",
                        "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":\"" + LONG + "\"}",
                        "x-warmpath-explain",
                        "1");
        assertEquals("", header(text, "x-warmpath-tokens"));

        gateway.engines.getFirst().startTemplateWith("");
        for (int i = 0; i < TO_WIN; i++) {
            assertEquals("drifted", header(ask(LONG), "x-warmpath-tokens"), "after " + i);
        }
        assertEquals("", header(ask(LONG), "x-warmpath-tokens"));
        cacheIsPredicted();
        assertEquals(1, trusted());
        assertEquals(1, logs.at(Level.WARNING).size());
        assertTrue(logs.at(Level.INFO).getLast().contains("again"), logs.at(Level.INFO).toString());
    }

    private double trusted() {
        return gateway.meters.get("warmpath.prompt.trusted").tag("form", "chat").gauge().value();
    }

    @Test
    void a_few_answers_that_differ_change_nothing() throws Exception {
        cacheIsPredicted();
        gateway.engines.getFirst().startTemplateWith(OTHER);
        for (int i = 0; i < TO_LOSE - 1; i++) {
            ask(LONG);
        }
        gateway.engines.getFirst().startTemplateWith("");
        for (int i = 0; i < TO_WIN; i++) {
            assertEquals("", header(ask(LONG), "x-warmpath-tokens"));
        }
        assertEquals(List.of(), logs.at(Level.WARNING));
        assertEquals(
                TO_LOSE - 1,
                gateway.meters
                        .get("warmpath.prompt.lengths")
                        .tag("result", "differs")
                        .counter()
                        .count());
    }

    @Test
    void without_events_a_worker_is_known_by_our_own_ids_which_are_right_for_that()
            throws Exception {
        gateway.close();
        gateway =
                SimGateway.start(
                        Map.of(
                                "warmpath.models.\"demo\".path",
                                        "src/tokens/main/resources/demo-model",
                                "warmpath.router.use-kv-events", "false"),
                        SimOptions.builder().wire(wire).prefillTokensPerSecond(1e6));
        gateway.engines.getFirst().startTemplateWith(OTHER);
        for (int i = 0; i <= TO_LOSE; i++) {
            ask(LONG);
        }
        await().untilAsserted(() -> assertEquals(1, logs.at(Level.WARNING).size()));
        HttpResponse<String> answer = ask(LONG);
        assertEquals("", header(answer, "x-warmpath-tokens"));
        assertTrue(predicted(answer) > 0);
    }
}
