package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.upstream.UpstreamOptions;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Token ids in and out, over answers as SGLang 0.5.23 and vLLM 0.32 gave them. */
@ExtendWith(Leaks.class)
class GenerateTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String GENERATE = "/router/generate";

    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.RAW);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    private void serve(EngineKind kind, int ranks, StubEngine.Script script) throws Exception {
        engine = new StubEngine(script);
        gateway.tokens.ids = new int[] {1, 2, 3, 4, 5};
        gateway.fleet.workers(
                List.of(Gateway.worker(0, engine.url(), kind, WorkerState.READY, ranks)));
    }

    /** In pieces of this many characters, so that events are cut anywhere. */
    private static StubEngine.Script stream(String events, int piece) {
        return call -> {
            call.streamHead();
            for (int i = 0; i < events.length(); i += piece) {
                call.chunk(events.substring(i, Math.min(events.length(), i + piece)));
            }
            call.lastChunk();
        };
    }

    private static String recorded(String name) throws Exception {
        try (InputStream in = GenerateTest.class.getResourceAsStream("/http/" + name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** The recorded stream, with the ids that {@code return_token_ids} adds. */
    private static String vllm() throws Exception {
        String text = recorded("vllm-completion-stream.txt");
        for (int id : new int[] {776, 3575, 776}) {
            text = text.replaceFirst("\"token_ids\":null", "\"token_ids\":[" + id + "]");
        }
        assertFalse(text.contains("\"token_ids\":null"));
        return text;
    }

    private static List<String> frames(RawClient.Answer answer) {
        assertEquals(200, answer.status(), answer.body());
        assertFalse(answer.broken());
        List<String> frames = new ArrayList<>();
        for (String event : answer.body().split("\n\n", -1)) {
            if (!event.isEmpty()) {
                assertTrue(event.startsWith("data: "), event);
                frames.add(event.substring(6));
            }
        }
        return frames;
    }

    private static String ask(String more) {
        return "{\"model\":\"m\",\"token_ids\":[1,2,3,4,5]" + more + "}";
    }

    private RawClient.Answer generate(String more) throws Exception {
        return RawClient.post(gateway.port, GENERATE, ask(more));
    }

    @ParameterizedTest
    @ValueSource(ints = {100_000, 7, 1})
    void sglang_tells_all_ids_each_time_and_the_caller_gets_the_new_ones(int piece)
            throws Exception {
        serve(EngineKind.SGLANG, 1, stream(recorded("sglang-generate-stream.txt"), piece));
        List<String> frames = frames(generate(""));
        assertEquals("{\"token_ids\":[776]}", frames.get(0));
        assertEquals("{\"token_ids\":[3575]}", frames.get(1));
        assertEquals(
                "{\"token_ids\":[776],\"finish_reason\":\"length\",\"usage\":{\"prompt_tokens\":5,"
                        + "\"completion_tokens\":3,\"total_tokens\":8,"
                        + "\"prompt_tokens_details\":{\"cached_tokens\":0}}}",
                frames.get(2));
        assertEquals("[DONE]", frames.get(3));
        assertEquals(4, frames.size());
    }

    @Test
    void sglang_that_streams_increments_reads_the_same() throws Exception {
        String cumulative = recorded("sglang-generate-stream.txt");
        String increments =
                cumulative
                        .replace("\"output_ids\":[776,3575,776]", "\"output_ids\":[776]")
                        .replace("\"output_ids\":[776,3575]", "\"output_ids\":[3575]");
        serve(EngineKind.SGLANG, 1, stream(increments, 100_000));
        List<String> frames = frames(generate(""));
        assertEquals("{\"token_ids\":[3575]}", frames.get(1));
        assertTrue(frames.get(2).startsWith("{\"token_ids\":[776],\"finish_reason\":\"length\""));
    }

    @ParameterizedTest
    @ValueSource(ints = {100_000, 7, 1})
    void vllm_streams_ids_and_usage(int piece) throws Exception {
        serve(EngineKind.VLLM, 1, stream(vllm(), piece));
        List<String> frames = frames(generate(""));
        assertEquals(
                List.of(
                        "{\"token_ids\":[776]}",
                        "{\"token_ids\":[3575]}",
                        "{\"token_ids\":[776],\"finish_reason\":\"length\"}",
                        "{\"token_ids\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3,"
                                + "\"total_tokens\":8,"
                                + "\"prompt_tokens_details\":{\"cached_tokens\":0}}}",
                        "[DONE]"),
                frames);
    }

    @Test
    void usage_reaches_the_caller_also_where_the_gateway_asks_for_its_own() throws Exception {
        gateway.close();
        gateway =
                new Gateway(
                        EnginePath.RAW,
                        Options.of(o -> o.requestUsage = true),
                        UpstreamOptions.defaults(),
                        Runnable::run);
        serve(EngineKind.VLLM, 1, stream(vllm(), 100_000));
        List<String> frames = frames(generate(""));
        assertEquals(5, frames.size());
        assertTrue(frames.get(3).contains("\"completion_tokens\":3"), frames.get(3));
    }

    private static final String PARAMETERS =
            ",\"cache_salt\":\"s\",\"stop_conditions\":{\"max_tokens\":20,\"min_tokens\":2,"
                    + "\"stop\":[\"a\"],\"stop_token_ids\":[7],\"ignore_eos\":true},"
                    + "\"sampling_options\":{\"temperature\":0.7,\"top_p\":0.9,\"top_k\":5,"
                    + "\"seed\":42}";

    private JsonNode sent() throws Exception {
        assertEquals(1, engine.calls.size());
        return JSON.readTree(engine.calls.getFirst().bodyText());
    }

    @Test
    void sglang_is_asked_in_its_own_words() throws Exception {
        serve(EngineKind.SGLANG, 2, stream(recorded("sglang-generate-stream.txt"), 100_000));
        generate(PARAMETERS + ",\"dp_rank\":1");
        assertTrue(engine.calls.getFirst().head.startsWith("POST /generate "));
        assertEquals(
                JSON.readTree(
                        "{\"stream\":true,\"cache_salt\":\"s\",\"routed_dp_rank\":1,"
                                + "\"sampling_params\":{\"max_new_tokens\":20,"
                                + "\"min_new_tokens\":2,\"stop\":[\"a\"],\"stop_token_ids\":[7],"
                                + "\"ignore_eos\":true,\"temperature\":0.7,\"top_p\":0.9,"
                                + "\"top_k\":5,\"sampling_seed\":42},"
                                + "\"input_ids\":[1,2,3,4,5]}"),
                sent());
    }

    @Test
    void vllm_is_asked_in_its_own_words() throws Exception {
        serve(EngineKind.VLLM, 2, stream(vllm(), 100_000));
        generate(PARAMETERS + ",\"dp_rank\":1");
        assertTrue(engine.calls.getFirst().head.startsWith("POST /v1/completions "));
        assertEquals("1", engine.calls.getFirst().header("x-data-parallel-rank"));
        assertEquals("application/json", engine.calls.getFirst().header("content-type"));
        assertEquals(
                JSON.readTree(
                        "{\"model\":\"m\",\"stream\":true,\"return_token_ids\":true,"
                                + "\"stream_options\":{\"include_usage\":true},"
                                + "\"cache_salt\":\"s\",\"max_tokens\":20,\"min_tokens\":2,"
                                + "\"stop\":[\"a\"],\"stop_token_ids\":[7],\"ignore_eos\":true,"
                                + "\"temperature\":0.7,\"top_p\":0.9,\"top_k\":5,\"seed\":42,"
                                + "\"prompt\":[1,2,3,4,5]}"),
                sent());
    }

    @Test
    void load_is_booked_prefill_ends_at_the_first_token_and_usage_is_learnt_from()
            throws Exception {
        serve(EngineKind.VLLM, 1, stream(vllm(), 100_000));
        frames(generate(""));
        assertEquals(1, gateway.books.booked.get());
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        assertTrue(gateway.books.firstTokens.get() >= 1);
        assertEquals(List.of("w0 streams", "w0 first token", "w0 ended 3"), gateway.router.seen);
    }

    @Test
    void the_ids_of_the_prompt_are_let_go_with_the_first_token() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        String first = recorded("sglang-generate-stream.txt").split("\n\n", -1)[0] + "\n\n";
        serve(
                EngineKind.SGLANG,
                1,
                call -> {
                    call.streamHead();
                    call.chunk(first);
                    assertTrue(end.await(60, TimeUnit.SECONDS));
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(GENERATE, ask(""));
            assertEquals(200, RawClient.status(client.readHead()));
            WeakReference<int[]> ids = new WeakReference<>(idsOfThePrompt());
            gateway.tokens.seen.clear();
            gateway.router.requests.clear();
            await().until(
                            () -> {
                                System.gc();
                                return ids.refersTo(null);
                            });
        } finally {
            end.countDown();
        }
    }

    private int[] idsOfThePrompt() {
        return ((PromptInput.Ids) gateway.tokens.seen.getFirst()).tokens();
    }

    @Test
    void a_caller_that_leaves_stops_the_engine() throws Exception {
        String first = recorded("sglang-generate-stream.txt").split("\n\n", -1)[0] + "\n\n";
        List<Boolean> gone = new ArrayList<>();
        serve(
                EngineKind.SGLANG,
                1,
                call -> {
                    call.streamHead();
                    call.chunk(first);
                    gone.add(call.awaitGone());
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(GENERATE, ask(""));
            assertEquals(200, RawClient.status(client.readHead()));
            assertEquals("data: {\"token_ids\":[776]}\n\n", client.readChunk());
        }
        await().untilAsserted(() -> assertEquals(List.of(true), gone));
    }

    @Test
    void an_engine_that_breaks_before_its_first_token_is_replaced_by_another() throws Exception {
        serve(EngineKind.VLLM, 1, stream(vllm(), 100_000));
        StubEngine broken =
                new StubEngine(
                        call -> {
                            call.streamHead();
                            call.reset();
                        });
        try (broken) {
            gateway.serve(broken, engine);
            gateway.fleet.workers(
                    List.of(
                            Gateway.worker(
                                    0, broken.url(), EngineKind.SGLANG, WorkerState.READY, 1),
                            Gateway.worker(
                                    1, engine.url(), EngineKind.VLLM, WorkerState.READY, 1)));
            assertEquals("{\"token_ids\":[776]}", frames(generate("")).getFirst());
        }
        assertTrue(engine.calls.getFirst().head.startsWith("POST /v1/completions "));
    }

    @Test
    void an_engines_refusal_is_passed_on() throws Exception {
        serve(EngineKind.VLLM, 1, call -> call.json(400, "{\"error\":{\"message\":\"no\"}}"));
        RawClient.Answer refused = generate("");
        assertEquals(400, refused.status());
        assertEquals("{\"error\":{\"message\":\"no\"}}", refused.body());
    }

    @Test
    void an_event_that_is_not_json_becomes_an_error_event() throws Exception {
        serve(EngineKind.VLLM, 1, stream("data: {\"choices\":[{\"token\n\n", 100_000));
        assertTrue(frames(generate("")).getFirst().contains("bad_upstream_answer"));
    }

    @Test
    void an_engine_of_unknown_kind_is_not_asked() throws Exception {
        serve(EngineKind.OPENAI, 1, call -> call.json(200, "{}"));
        RawClient.Answer refused = generate("");
        assertEquals(400, refused.status());
        assertTrue(refused.body().contains("neither SGLang nor vLLM"), refused.body());
        assertEquals(0, engine.calls.size());
        assertEquals(0, gateway.books.booked.get());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                ",\"text\":\"x\"|text",
                ",\"worker_ids\":[0]|worker_ids",
                ",\"max_tokens\":3|max_tokens",
                ",\"stop_conditions\":{\"max_token\":3}|stop_conditions.max_token",
                ",\"stop_conditions\":{\"max_token\":null}|stop_conditions.max_token",
                ",\"stop_conditions\":{\"max_tokens\":0}|stop_conditions.max_tokens",
                ",\"stop_conditions\":{\"stop\":[1]}|stop_conditions.stop",
                ",\"stop_conditions\":{\"stop_token_ids\":[-1]}|stop_conditions.stop_token_ids",
                ",\"stop_conditions\":3|stop_conditions",
                ",\"sampling_options\":{\"temperature\":-1}|sampling_options.temperature",
                ",\"sampling_options\":{\"top_k\":0.5}|sampling_options.top_k",
                ",\"sampling_options\":{\"n\":2}|sampling_options.n"
            })
    void what_is_wrong_in_a_body_is_named(String more, String param) throws Exception {
        serve(EngineKind.VLLM, 1, stream(vllm(), 100_000));
        RawClient.Answer refused = generate(more);
        assertEquals(400, refused.status(), refused.body());
        assertEquals(param, JSON.readTree(refused.body()).get("error").get("param").textValue());
        assertEquals(0, engine.calls.size());
    }
}
