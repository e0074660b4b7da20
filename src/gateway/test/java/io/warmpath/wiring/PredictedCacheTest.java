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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two models with templates of their own, each on an engine of either kind: a conversation with
 * tools grows turn by turn, and what the gateway predicts to be cached is what the engines report,
 * to the token. The engines' side of it is {@link EngineText}.
 */
class PredictedCacheTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String TOOLS =
            "\"tools\":[{\"type\":\"function\",\"function\":{\"description\":\"Wetter, für heute:"
                    + " \\\"kurz\\\"\",\"name\":\"weather\",\"parameters\":{\"type\":\"object\","
                    + "\"required\":[\"city\"],\"properties\":{\"city\":{\"type\":\"string\"},"
                    + "\"days\":{\"type\":\"integer\",\"minimum\":1}}}}},{\"type\":\"function\","
                    + "\"function\":{\"name\":\"now\"}}]";

    private static final List<String> TURNS =
            List.of(
                    "{\"role\":\"system\",\"content\":\""
                            + "You help with the weather and with nothing else. ".repeat(8)
                            + "\"},{\"role\":\"user\",\"content\":\"Wie wird es in Köln?\"}",
                    ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_1\","
                            + "\"type\":\"function\",\"function\":{\"name\":\"weather\","
                            + "\"arguments\":\"{\\\"city\\\":\\\"Köln\\\",\\\"days\\\": 2}\"}},"
                            + "{\"type\":\"function\",\"id\":\"call_2\",\"function\":{\"arguments\":"
                            + "\"{}\",\"name\":\"now\"}}]},{\"role\":\"tool\",\"tool_call_id\":"
                            + "\"call_1\",\"content\":\"Regen, 12 Grad, Wind aus Westen\"},{\"role\":"
                            + "\"tool\",\"tool_call_id\":\"call_2\",\"content\":\"Dienstag\"}",
                    ",{\"role\":\"assistant\",\"content\":\"Es regnet bei 12 Grad, nehmen Sie einen"
                            + " Schirm mit.\"},{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                            + "\"text\":\"Und in Bonn?\"},{\"type\":\"text\",\"text\":\"Danke!\"}]}");

    private final Logs logs = new Logs(SelfCheck.class);
    private SimGateway gateway;

    private static SimOptions.Builder engine(EngineText.Model model, WireFormat wire) {
        return SimOptions.builder()
                .models(List.of(name(model)))
                .wire(wire)
                .chats(new EngineText(model, wire.sglang()))
                .prefillTokensPerSecond(1e6)
                .interToken(Duration.ofNanos(100_000));
    }

    private static String name(EngineText.Model model) {
        return model == EngineText.Model.AGENT ? "agent" : "caller";
    }

    @BeforeEach
    void start() throws Exception {
        Map<String, String> settings = new HashMap<>();
        for (String model : List.of("agent", "caller")) {
            String key = "warmpath.models.\"" + model + "\".";
            settings.put(key + "path", "src/tokens/main/resources/demo-model");
            settings.put(key + "chat-template", "src/test/resources/models/" + model + ".jinja");
        }
        gateway =
                SimGateway.start(
                        settings,
                        engine(EngineText.Model.AGENT, WireFormat.VLLM_MAP),
                        engine(EngineText.Model.AGENT, WireFormat.SGLANG_MAP),
                        engine(EngineText.Model.CALLER, WireFormat.VLLM_ARRAY),
                        engine(EngineText.Model.CALLER, WireFormat.SGLANG_ARRAY));
    }

    @AfterEach
    void stop() throws Exception {
        logs.close();
        gateway.close();
    }

    private HttpResponse<String> ask(String model, String messages, String worker)
            throws Exception {
        HttpResponse<String> answer =
                gateway.post(
                        "/v1/chat/completions",
                        "{\"model\":\""
                                + model
                                + "\",\"max_tokens\":1,"
                                + TOOLS
                                + ",\"messages\":["
                                + messages
                                + "]}",
                        "x-warmpath-explain",
                        "1",
                        "x-worker-instance-id",
                        worker);
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }

    private static int header(HttpResponse<String> answer, String name) {
        return Integer.parseInt(answer.headers().firstValue(name).orElse("-1"));
    }

    private static JsonNode usage(HttpResponse<String> answer) throws Exception {
        return JSON.readTree(answer.body()).path("usage");
    }

    private static int cached(HttpResponse<String> answer) throws Exception {
        return usage(answer).at("/prompt_tokens_details/cached_tokens").asInt(0);
    }

    /** A turn that repeats the one before holds at least what that had in whole blocks. */
    private int converse(String model, String messages, String worker, int before)
            throws Exception {
        HttpResponse<String> first = ask(model, messages, worker);
        int length = usage(first).path("prompt_tokens").asInt();
        assertEquals(length, header(first, "x-warmpath-prompt-tokens"), "of " + messages);
        assertTrue(cached(first) >= before, cached(first) + " of " + before);
        int whole = (length - 1) / 16 * 16;
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(
                        () -> {
                            HttpResponse<String> again = ask(model, messages, worker);
                            assertEquals(whole, cached(again));
                            assertEquals(
                                    whole, header(again, "x-warmpath-predicted-cached-tokens"));
                        });
        return whole;
    }

    @Test
    void predicted_is_reported_through_templates_with_tools_on_both_kinds_of_engines()
            throws Exception {
        List<String> kinds = new ArrayList<>();
        for (JsonNode worker : JSON.readTree(gateway.get("/workers").body()).path("data")) {
            String model = worker.at("/models/0").asText();
            kinds.add(model + " " + worker.path("kind").asText());
            StringBuilder messages = new StringBuilder();
            int whole = 0;
            for (String turn : TURNS) {
                messages.append(turn);
                int longer =
                        converse(model, messages.toString(), worker.path("id").asText(), whole);
                assertTrue(longer > whole + 16, "a turn is longer than a block");
                whole = longer;
            }
        }
        assertEquals(
                List.of("agent sglang", "agent vllm", "caller sglang", "caller vllm"),
                kinds.stream().sorted().toList());
        for (String model : List.of("agent", "caller")) {
            for (String engine : List.of("vllm", "sglang")) {
                assertEquals(0, lengths(model, engine, "differs"));
                assertTrue(lengths(model, engine, "equal") >= 6);
            }
        }
        assertEquals(List.of(), logs.at(Level.WARNING));
    }

    private double lengths(String model, String engine, String result) {
        return gateway.meters
                .get("warmpath.prompt.lengths")
                .tags("model", model, "engine", engine, "form", "conversation", "result", result)
                .counter()
                .count();
    }
}
