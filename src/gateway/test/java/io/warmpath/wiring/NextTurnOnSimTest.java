package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
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
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A worker that is warmed for the next turn, through the whole gateway on a simulated engine. */
class NextTurnOnSimTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private SimGateway gateway;

    @AfterEach
    void stop() throws Exception {
        gateway.close();
    }

    private static SimOptions.Builder engine(String wire) {
        return SimOptions.builder()
                .wire(WireFormat.valueOf(wire))
                .ranks(2)
                .chats(NextTurnOnSimTest::rendered)
                .prefillTokensPerSecond(1e6)
                .interToken(Duration.ofNanos(100_000));
    }

    private static Map<String, String> with(String key, String value) {
        return Map.of(
                key,
                value,
                "warmpath.models.\"demo\".path",
                "src/tokens/main/resources/demo-model",
                "warmpath.models.\"demo\".chat-template",
                "src/test/resources/models/thinker.jinja");
    }

    /**
     * The same template, as the engine has it: what is in front of an answer is not there later.
     */
    private static String rendered(JsonNode request) {
        StringBuilder text = new StringBuilder();
        for (JsonNode m : request.path("messages")) {
            text.append("<|im_start|>").append(m.path("role").asText()).append('\n');
            text.append(m.path("content").asText()).append("<|im_end|>\n");
        }
        return text.append("<|im_start|>assistant\n<think>\n\n</think>\n\n").toString();
    }

    private static ObjectNode message(String role, String content) {
        return JSON.createObjectNode().put("role", role).put("content", content);
    }

    /** The answer to a chat, with what the engine says of its prompt. */
    private JsonNode ask(ArrayNode messages, boolean stream, boolean hint) throws Exception {
        ObjectNode body = JSON.createObjectNode().put("model", "demo");
        body.put("stream", stream).put("max_tokens", 60).set("messages", messages);
        if (stream) {
            body.putObject("stream_options").put("include_usage", true);
        }
        if (hint) {
            body.putObject("nvext").putObject("agent_hints").put("speculative_prefill", true);
        }
        HttpResponse<String> answer = gateway.post("/v1/chat/completions", body.toString());
        assertEquals(200, answer.statusCode(), answer.body());
        if (!stream) {
            return JSON.readTree(answer.body());
        }
        StringBuilder text = new StringBuilder();
        JsonNode usage = null;
        for (String line : answer.body().lines().filter(l -> l.startsWith("data: {")).toList()) {
            JsonNode chunk = JSON.readTree(line.substring(6));
            text.append(chunk.at("/choices/0/delta/content").asText(""));
            usage = chunk.hasNonNull("usage") ? chunk.get("usage") : usage;
        }
        ObjectNode whole = JSON.createObjectNode();
        whole.putArray("choices").addObject().set("message", message("assistant", text.toString()));
        whole.set("usage", usage);
        return whole;
    }

    private static int cached(JsonNode answer) {
        return answer.at("/usage/prompt_tokens_details/cached_tokens").asInt();
    }

    private double ahead(String result) {
        return gateway.meters.get("warmpath.prefill.ahead").tag("result", result).counter().count();
    }

    /** Cached tokens of a second turn, and its length. */
    private int[] second(boolean stream, boolean hint, String system) throws Exception {
        ArrayNode messages = JSON.createArrayNode();
        messages.add(message("system", system.repeat(40)));
        messages.add(message("user", "tell me a story"));
        double before = ahead("ok");
        JsonNode first = ask(messages, stream, hint);
        if (hint) {
            await().until(() -> ahead("ok") == before + 1);
        }
        messages.add(first.at("/choices/0/message"));
        messages.add(message("user", "go on"));
        JsonNode next = ask(messages, stream, false);
        return new int[] {cached(next), next.at("/usage/prompt_tokens").asInt()};
    }

    @ParameterizedTest
    @CsvSource({"VLLM_MAP,true", "VLLM_MAP,false", "SGLANG_MAP,true", "SGLANG_MAP,false"})
    void the_next_turn_finds_its_beginning_computed(String wire, boolean stream) throws Exception {
        gateway = SimGateway.start(with("warmpath.session.prefill.concurrency", "1"), engine(wire));
        int[] cold = second(stream, false, "You are kind. ");
        int[] warm = second(stream, true, "You are calm. ");
        assertTrue(
                warm[1] - warm[0] + 32 < cold[1] - cold[0],
                () -> Arrays.toString(cold) + " without, " + Arrays.toString(warm) + " with");
        assertTrue(
                warm[1] - warm[0] < 40,
                () -> warm[0] + " of " + warm[1] + ": all but the new message");
        double[] tokens = {gateway.meters.get("warmpath.prefill.ahead.tokens").counter().count()};
        assertTrue(tokens[0] > 0 && tokens[0] < 200, () -> "new tokens " + tokens[0]);
        double hit = gateway.meters.get("warmpath.prefill.ahead.hit.tokens").counter().count();
        assertTrue(
                hit > tokens[0] - 32 && hit <= tokens[0],
                () -> hit + " of " + tokens[0] + ": all but an incomplete block");
    }

    @Test
    void nobody_is_warmed_where_that_is_off() throws Exception {
        gateway =
                SimGateway.start(
                        with("warmpath.session.prefill.concurrency", "0"), engine("VLLM_MAP"));
        int[] asked = second(true, false, "You are kind. ");
        ArrayNode messages = JSON.createArrayNode();
        messages.add(message("user", "tell me a story"));
        ask(messages, true, true);
        assertTrue(asked[0] > 0);
        for (String result : new String[] {"ok", "busy", "budget", "unknown"}) {
            assertEquals(0, ahead(result), result);
        }
    }

    @Test
    void a_model_without_a_tokenizer_is_not_warmed_and_says_so() throws Exception {
        gateway =
                SimGateway.start(
                        Map.of("warmpath.models.\"demo\".ask-engine", "false"), engine("VLLM_MAP"));
        ArrayNode messages = JSON.createArrayNode();
        messages.add(message("user", "tell me a story"));
        ask(messages, true, true);
        assertEquals(1, ahead("unknown"));
    }
}
