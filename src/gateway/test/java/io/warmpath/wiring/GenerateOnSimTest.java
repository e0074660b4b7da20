package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.wire.WireFormat;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * {@code POST /router/generate} through the whole gateway on simulated engines: their own
 * endpoints, prompts and streams. What engines answer differs in form only.
 */
@ParameterizedClass
@EnumSource
class GenerateOnSimTest {
    /** How the engine streams token ids. */
    enum Engine {
        VLLM,
        SGLANG,
        SGLANG_INCREMENTS
    }

    private static final ObjectMapper JSON = new ObjectMapper();

    @Parameter Engine engine;
    private SimGateway gateway;

    @BeforeEach
    void start() throws Exception {
        gateway =
                SimGateway.start(
                        Map.of("warmpath.router.use-kv-events", "false"),
                        SimOptions.builder()
                                .wire(
                                        engine == Engine.VLLM
                                                ? WireFormat.VLLM_MAP
                                                : WireFormat.SGLANG_MAP)
                                .streamsIncrements(engine == Engine.SGLANG_INCREMENTS)
                                .ranks(2)
                                .prefillTokensPerSecond(1e6)
                                .interToken(Duration.ofNanos(100_000)));
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
    }

    /** What a caller gets of one answer. */
    private record Answer(List<Integer> ids, int frames, JsonNode last, JsonNode usage) {}

    private Answer generate(int promptTokens, String more) throws Exception {
        HttpResponse<String> answer =
                gateway.post(
                        "/router/generate",
                        "{\"token_ids\":"
                                + IntStream.range(500, 500 + promptTokens).boxed().toList()
                                + more
                                + "}");
        assertEquals(200, answer.statusCode(), answer.body());
        List<String> frames =
                answer.body()
                        .lines()
                        .filter(l -> !l.isEmpty())
                        .map(l -> l.substring("data: ".length()))
                        .toList();
        assertEquals("[DONE]", frames.getLast());
        List<Integer> ids = new ArrayList<>();
        JsonNode last = JSON.createObjectNode();
        JsonNode usage = JSON.createObjectNode();
        for (String frame : frames.subList(0, frames.size() - 1)) {
            JsonNode f = JSON.readTree(frame);
            f.get("token_ids").forEach(id -> ids.add(id.intValue()));
            last = f.has("finish_reason") ? f : last;
            usage = f.has("usage") ? f.get("usage") : usage;
        }
        return new Answer(ids, frames.size(), last, usage);
    }

    private static String stop(String conditions) {
        return ",\"stop_conditions\":{" + conditions + "}";
    }

    @Test
    void an_answer_has_its_length_reason_and_usage() throws Exception {
        Answer answer = generate(40, stop("\"max_tokens\":20,\"ignore_eos\":true"));
        assertEquals(20, answer.ids().size());
        assertTrue(answer.frames() > 1);
        assertEquals("length", answer.last().get("finish_reason").textValue());
        assertEquals(40, answer.usage().get("prompt_tokens").intValue());
        assertEquals(20, answer.usage().get("completion_tokens").intValue());
        assertEquals(60, answer.usage().get("total_tokens").intValue());
        assertEquals(0, answer.usage().at("/prompt_tokens_details/cached_tokens").intValue());
        Answer again =
                generate(40, ",\"dp_rank\":0" + stop("\"max_tokens\":20,\"ignore_eos\":true"));
        assertEquals(answer.ids(), again.ids());
    }

    @Test
    void the_engine_caches_by_rank_and_salt() throws Exception {
        String one = stop("\"max_tokens\":1");
        assertEquals(0, cached(generate(70, ",\"dp_rank\":1" + one)));
        assertEquals(64, cached(generate(70, ",\"dp_rank\":1" + one)));
        assertEquals(0, cached(generate(70, ",\"dp_rank\":0" + one)));
        assertEquals(0, cached(generate(70, ",\"dp_rank\":1,\"cache_salt\":\"s\"" + one)));
        assertEquals(
                64, cached(generate(70, ",\"nvext\":{\"dp_rank\":1,\"cache_salt\":\"s\"}" + one)));
        // The router knows it too: without a pin the prompt goes where it went.
        assertEquals(64, cached(generate(70, one)));
    }

    private static int cached(Answer answer) {
        return answer.usage().at("/prompt_tokens_details/cached_tokens").intValue();
    }

    @Test
    void it_ends_by_itself_at_a_token_or_at_a_text() throws Exception {
        Answer whole = generate(30, stop("\"max_tokens\":200"));
        assertEquals(64, whole.ids().size(), "the engine's own end");
        assertEquals("stop", whole.last().get("finish_reason").textValue());

        int id = whole.ids().get(9);
        int end = whole.ids().indexOf(id) + 1;
        Answer atToken = generate(30, stop("\"max_tokens\":200,\"stop_token_ids\":[" + id + "]"));
        assertEquals(whole.ids().subList(0, end), atToken.ids());
        assertEquals("stop", atToken.last().get("finish_reason").textValue());
        assertEquals(id, atToken.last().get("stop_reason").intValue());

        Answer atText = generate(30, stop("\"max_tokens\":200,\"stop\":\" \""));
        assertTrue(atText.ids().size() < 10, "of words, the second begins with a blank");
        assertEquals(whole.ids().subList(0, atText.ids().size()), atText.ids());
        assertEquals(" ", atText.last().get("stop_reason").textValue());

        Answer later = generate(30, stop("\"max_tokens\":200,\"min_tokens\":30,\"stop\":[\" \"]"));
        assertEquals(30, later.ids().size());
    }

    @Test
    void a_long_answer_is_told_once() throws Exception {
        Answer answer = generate(20, stop("\"max_tokens\":3000,\"ignore_eos\":true"));
        assertEquals(3_000, answer.ids().size());
        assertEquals(3_000, answer.usage().get("completion_tokens").intValue());
    }
}
