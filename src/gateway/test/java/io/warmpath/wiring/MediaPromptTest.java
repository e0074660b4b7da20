package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.wire.WireFormat;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A chat with an image goes to where what stands before the image is cached. */
class MediaPromptTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String SYSTEM =
            "{\"role\":\"system\",\"content\":\"" + "You look at pictures. ".repeat(20) + "\"}";
    private static final String IMAGE =
            ",{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
                    + "\"data:image/png;base64,AAAA\"}},{\"type\":\"text\",\"text\":\"What is it?\"}]}";

    private SimGateway gateway;

    @BeforeEach
    void start() throws Exception {
        gateway =
                SimGateway.start(
                        Map.of(
                                "warmpath.models.\"demo\".path",
                                "src/tokens/main/resources/demo-model"),
                        engine(),
                        engine());
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
    }

    private static SimOptions.Builder engine() {
        return SimOptions.builder()
                .wire(WireFormat.VLLM_MAP)
                .chats(MediaPromptTest::text)
                .prefillTokensPerSecond(1e6)
                .interToken(Duration.ofNanos(100_000));
    }

    /** ChatML; of an image some tokens that only the engine knows. */
    private static String text(JsonNode request) {
        StringBuilder text = new StringBuilder();
        for (JsonNode message : request.path("messages")) {
            text.append("<|im_start|>").append(message.path("role").asText()).append('\n');
            JsonNode content = message.path("content");
            if (content.isTextual()) {
                text.append(content.asText());
            }
            for (JsonNode part : content.isArray() ? content : JSON.createArrayNode()) {
                text.append(part.path("text").asText("=".repeat(300)));
            }
            text.append("<|im_end|>\n");
        }
        return text.append("<|im_start|>assistant\n").toString();
    }

    private HttpResponse<String> ask(String messages) throws Exception {
        HttpResponse<String> answer =
                gateway.post(
                        "/v1/chat/completions",
                        "{\"model\":\"demo\",\"max_tokens\":1,\"messages\":[" + messages + "]}",
                        "x-warmpath-explain",
                        "1");
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    @Test
    void what_stands_before_an_image_is_found_and_what_follows_is_not_guessed() throws Exception {
        String holder = header(ask(SYSTEM + IMAGE), "x-warmpath-worker");
        String other = IMAGE.replace("AAAA", "BBBB").replace("What is", "Who is");
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(
                        () -> {
                            HttpResponse<String> answer = ask(SYSTEM + other);
                            int predicted =
                                    Integer.parseInt(
                                            header(answer, "x-warmpath-predicted-cached-tokens"));
                            JsonNode usage = JSON.readTree(answer.body()).path("usage");
                            int length = usage.path("prompt_tokens").asInt();
                            int known =
                                    Integer.parseInt(header(answer, "x-warmpath-prompt-tokens"));
                            assertTrue(predicted >= 64, "only " + predicted);
                            assertTrue(
                                    predicted
                                            <= usage.at("/prompt_tokens_details/cached_tokens")
                                                    .asInt());
                            assertTrue(known + 50 < length, known + " of " + length);
                            assertEquals(holder, header(answer, "x-warmpath-worker"));
                            assertEquals(
                                    "media of a model whose processor is not known",
                                    header(answer, "x-warmpath-not-exact"));
                        });
        // A beginning has no length to compare.
        assertNull(gateway.meters.find("warmpath.prompt.lengths").counter());
    }
}
