package io.warmpath.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.model.SimTokenizer;
import io.warmpath.sim.wire.WireFormat;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The engine from outside, over real HTTP, compared with what real engines answered. */
class SimEngineTest {
    private static final String CHAT = "/v1/chat/completions";
    private static final String COMPLETE = "/v1/completions";
    private static final String GENERATE = "/generate";
    private static final Duration SOON = Duration.ofSeconds(10);

    private static SimTokenizer tokenizer;

    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeAll
    static void loadTokenizer() throws IOException {
        tokenizer = SimTokenizer.demo();
    }

    @AfterAll
    static void closeTokenizer() {
        tokenizer.close();
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable c : open.reversed()) {
            c.close();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "SGLANG_MAP, true, captures/http/sglang-chat-stream.txt",
        "SGLANG_MAP, false, captures/http/sglang-completion-stream.txt",
        "VLLM_MAP, true, captures/http/vllm-chat-stream.txt",
        "VLLM_MAP, false, captures/http/vllm-completion-stream.txt"
    })
    void streams_have_the_events_and_keys_of_the_imitated_engine(
            WireFormat wire, boolean chat, String recorded) throws Exception {
        SimClient client = client(engine(fast().wire(wire)));
        List<String> expected = SimClient.events(TestVectors.text(recorded));
        int tokens = chat ? 4 : 3;
        List<String> got =
                client.events(
                        chat ? CHAT : COMPLETE,
                        body(chat, "Say something short.", tokens, true, ""));
        assertEquals(expected.size(), got.size(), "number of events");
        for (int i = 0; i < got.size() - 1; i++) {
            JsonNode was = TestVectors.json(expected.get(i));
            JsonNode is = TestVectors.json(got.get(i));
            assertEquals(shape(was), shape(is), "event " + i);
            assertEquals(was.at("/choices/0/finish_reason"), is.at("/choices/0/finish_reason"));
            assertEquals(was.at("/usage/completion_tokens"), is.at("/usage/completion_tokens"));
        }
        assertEquals("[DONE]", got.getLast());
    }

    @ParameterizedTest
    @CsvSource({
        "SGLANG_MAP, captures/http/sglang-chat.json",
        "VLLM_MAP, captures/http/vllm-chat.json"
    })
    void whole_answers_have_the_keys_of_the_imitated_engine(WireFormat wire, String recorded)
            throws Exception {
        SimClient client = client(engine(fast().wire(wire)));
        JsonNode got = client.json(CHAT, body(true, "Say something short.", 4, false, ""));
        assertEquals(shape(TestVectors.file(recorded)), shape(got));
    }

    @Test
    void generate_streams_the_events_and_keys_of_sglang() throws Exception {
        SimClient client = client(engine(fast()));
        List<String> expected =
                SimClient.events(TestVectors.text("captures/http/sglang-generate-stream.txt"));
        List<String> got = client.events(GENERATE, generate(5, true, "\"ignore_eos\":true", 3));
        assertEquals(expected.size(), got.size());
        for (int i = 0; i < 3; i++) {
            JsonNode was = TestVectors.json(expected.get(i));
            JsonNode is = TestVectors.json(got.get(i));
            assertEquals(names(was), names(is));
            assertEquals(names(was.path("meta_info")), names(is.path("meta_info")), "event " + i);
            assertEquals(shape(was), shape(is), "event " + i);
            assertEquals(i + 1, is.path("output_ids").size());
            for (String same :
                    List.of(
                            "finish_reason",
                            "prompt_tokens",
                            "completion_tokens",
                            "cached_tokens")) {
                assertEquals(was.at("/meta_info/" + same), is.at("/meta_info/" + same), same);
            }
        }
        String text = "";
        for (int i = 0; i < 3; i++) {
            String more = TestVectors.json(got.get(i)).path("text").textValue();
            assertTrue(more.startsWith(text) && more.length() > text.length(), got.get(i));
            text = more;
        }
        assertEquals("[DONE]", got.getLast());
    }

    @Test
    void generate_tells_the_new_ids_only_when_it_is_started_so() throws Exception {
        String ask = generate(5, true, "\"ignore_eos\":true", 4);
        JsonNode whole = TestVectors.json(client(engine(fast())).events(GENERATE, ask).get(3));
        List<String> got = client(engine(fast().streamsIncrements(true))).events(GENERATE, ask);
        StringBuilder text = new StringBuilder();
        List<JsonNode> ids = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            JsonNode event = TestVectors.json(got.get(i));
            text.append(event.path("text").textValue());
            assertEquals(1, event.path("output_ids").size());
            ids.add(event.path("output_ids").get(0));
            assertEquals(i + 1, event.at("/meta_info/completion_tokens").intValue());
        }
        assertEquals(whole.path("text").textValue(), text.toString());
        assertEquals(whole.path("output_ids").valueStream().toList(), ids);
    }

    @Test
    void generate_reports_cached_tokens_and_their_tiers_as_sglang_does() throws Exception {
        SimClient client = client(engine(fast()));
        String ask = generate(70, false, "\"ignore_eos\":true", 2);
        JsonNode cold = client.json(GENERATE, ask).path("meta_info");
        assertEquals(0, cold.path("cached_tokens").intValue());
        assertTrue(cold.path("cached_tokens_details").isNull());
        JsonNode warm = client.json(GENERATE, ask).path("meta_info");
        assertEquals(64, warm.path("cached_tokens").intValue());
        assertEquals(
                TestVectors.json("{\"device\":64,\"host\":0}"), warm.path("cached_tokens_details"));
        assertEquals(70, warm.path("prompt_tokens").intValue());
    }

    @Test
    void answers_stop_where_the_client_wants_them_to() throws Exception {
        SimClient client = client(engine(fast()));
        JsonNode free = client.json(GENERATE, generate(5, false, "\"ignore_eos\":true", 12));
        JsonNode ids = free.path("output_ids");
        String text = free.path("text").textValue();

        int stop = ids.get(6).intValue();
        int first = 0;
        while (ids.get(first).intValue() != stop) {
            first++;
        }
        JsonNode byId =
                client.json(GENERATE, generate(5, false, "\"stop_token_ids\":[" + stop + "]", 12));
        assertEquals(first + 1, byId.path("output_ids").size());
        assertEquals(stop, byId.at("/meta_info/finish_reason/matched").intValue());
        assertEquals("stop", byId.at("/meta_info/finish_reason/type").textValue());

        String word = text.substring(text.indexOf(' ', 12) + 1, text.indexOf(' ', 12) + 3);
        JsonNode byText =
                client.json(GENERATE, generate(5, false, "\"stop\":[\"" + word + "\"]", 12));
        assertEquals(text.substring(0, text.indexOf(word)), byText.path("text").textValue());
        assertEquals(word, byText.at("/meta_info/finish_reason/matched").textValue());

        // The same ids by vLLM's completions, whose reason stands apart.
        SimClient vllm = client(engine(fast().wire(WireFormat.VLLM_MAP)));
        JsonNode choice =
                vllm.json(
                                COMPLETE,
                                "{\"model\":\"demo\",\"return_token_ids\":true,\"max_tokens\":12,"
                                        + "\"prompt\":"
                                        + prompt(5)
                                        + ",\"stop\":\""
                                        + word
                                        + "\"}")
                        .at("/choices/0");
        assertEquals(byText.path("output_ids"), choice.path("token_ids"));
        assertEquals(byText.path("text"), choice.path("text"));
        assertEquals(word, choice.path("stop_reason").textValue());
        assertEquals("stop", choice.path("finish_reason").textValue());
    }

    @Test
    void generate_refuses_what_it_cannot_read_and_is_sglangs_alone() throws Exception {
        SimClient client = client(engine(fast()));
        for (String body :
                List.of(
                        "{}",
                        "{\"input_ids\":[1],\"text\":\"a\"}",
                        "{\"input_ids\":[-1]}",
                        "{\"input_ids\":[1],\"sampling_params\":{\"max_new_tokens\":0}}")) {
            HttpResponse<String> refused = client.post(GENERATE, body);
            assertEquals(400, refused.statusCode(), body);
            assertTrue(TestVectors.json(refused.body()).at("/error/message").isTextual(), body);
        }
        SimClient vllm = client(engine(fast().wire(WireFormat.VLLM_MAP)));
        assertEquals(404, vllm.post(GENERATE, generate(5, false, "", 1)).statusCode());
    }

    private static String generate(int prompt, boolean stream, String sampling, int tokens) {
        return "{\"input_ids\":"
                + prompt(prompt)
                + (stream ? ",\"stream\":true" : "")
                + ",\"sampling_params\":{\"max_new_tokens\":"
                + tokens
                + (sampling.isEmpty() ? "" : "," + sampling)
                + "}}";
    }

    private static String prompt(int tokens) {
        return IntStream.range(100, 100 + tokens).boxed().toList().toString();
    }

    private static List<String> names(JsonNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    @Test
    void event_sources_are_listed_as_vllm_lists_them() throws Exception {
        SimEngine engine = engine(fast().wire(WireFormat.VLLM_MAP).ranks(2));
        JsonNode got = TestVectors.json(client(engine).get("/kv_event_sources").body());
        JsonNode recorded = TestVectors.file("captures/http/vllm-kv_event_sources.json");
        assertEquals(shape(recorded.get("0")), shape(got.get("0")));
        assertEquals(
                "tcp://127.0.0.1:" + (engine.eventsPort() + 1), got.at("/1/endpoint").asText());
        assertEquals(
                "tcp://127.0.0.1:" + (engine.replayPort() + 1),
                got.at("/1/replay_endpoint").asText());
    }

    @Test
    void server_info_has_the_event_descriptor_of_sglang() throws Exception {
        SimEngine engine = engine(fast().blockSize(32).ranks(2));
        JsonNode got = TestVectors.json(client(engine).get("/server_info").body());
        JsonNode recorded =
                TestVectors.lines("captures/sglang-0.5.23-p16.jsonl").stream()
                        .filter(l -> l.path("path").asText().equals("/server_info"))
                        .map(l -> TestVectors.json(l.path("answer").asText()))
                        .findFirst()
                        .orElseThrow();
        assertEquals(shape(recorded.path("kv_events")), shape(got.path("kv_events")));
        Set<String> missing = shape(recorded);
        missing.removeAll(shape(got));
        missing.removeIf(k -> k.startsWith("/internal_states[]/"));
        assertEquals(Set.of(), missing);
        assertEquals(32, got.at("/kv_events/block_size").intValue());
        assertEquals(engine.eventsPort(), got.at("/kv_events/endpoint_port_base").intValue());
    }

    @ParameterizedTest
    @EnumSource(WireFormat.class)
    void the_next_turn_finds_prompt_and_answer_in_the_cache(WireFormat wire) throws Exception {
        SimClient client = client(engine(fast().wire(wire).answerTokens(50)));
        String question = "Tell me about the river and the old bridge. ".repeat(8);
        JsonNode first = client.json(CHAT, body(true, question, 0, false, ""));
        int prompt = first.at("/usage/prompt_tokens").intValue();
        assertEquals(0, cached(first));
        assertEquals("stop", first.at("/choices/0/finish_reason").asText());

        String answer = first.at("/choices/0/message/content").asText();
        JsonNode second =
                client.json(
                        CHAT,
                        "{\"model\":\"demo\",\"max_tokens\":4,\"messages\":["
                                + message("user", question)
                                + ","
                                + message("assistant", answer)
                                + ","
                                + message("user", "And then?")
                                + "]}");
        // 50 answer tokens, the last one (the end mark) never computed
        assertEquals((prompt + 49) / 16 * 16, cached(second));
    }

    @Test
    void a_prompt_of_exactly_n_blocks_finds_one_less() throws Exception {
        SimClient client = client(engine(fast()));
        client.json(COMPLETE, ids(64, ""));
        assertEquals(48, cached(client.json(COMPLETE, ids(64, ""))));
        assertEquals(64, cached(client.json(COMPLETE, ids(65, ""))));
        assertEquals(0, cached(client.json(COMPLETE, ids(65, ",\"cache_salt\":\"t\""))));
    }

    @Test
    void ranks_keep_caches_of_their_own_and_are_chosen_by_body_header_or_load() throws Exception {
        SimEngine engine = engine(fast().ranks(2));
        SimClient client = client(engine);
        client.json(COMPLETE, ids(65, ",\"routed_dp_rank\":1"));
        assertEquals(0, cached(client.json(COMPLETE, ids(65, ",\"data_parallel_rank\":0"))));
        assertEquals(64, cached(client.json(COMPLETE, ids(65, ""), "X-data-parallel-rank", "1")));
        assertEquals(64, cached(client.json(COMPLETE, ids(65, ""))), "idle: rank 0");
        assertEquals(400, client.post(COMPLETE, ids(9, ",\"routed_dp_rank\":2")).statusCode());
        assertEquals(2, engine.stats().ranks().get(1).finished());
    }

    @Test
    void a_client_that_leaves_frees_its_slot_and_blocks() throws Exception {
        SimEngine engine = engine(fast().interToken(Duration.ofMillis(20)));
        try (SimClient leaving = new SimClient(engine)) {
            Stream<String> lines = leaving.open(CHAT, body(true, "Tell me all.", 4000, true, ""));
            Iterator<String> events = lines.iterator();
            assertTrue(events.next().startsWith("data: "));
            assertEquals(1, engine.stats().ranks().getFirst().running());
            lines.close();
        }
        Awaitility.await()
                .atMost(SOON)
                .untilAsserted(
                        () -> {
                            SimStats.RankStats rank = engine.stats().ranks().getFirst();
                            assertEquals(1, rank.aborted());
                            assertEquals(0, rank.running());
                            assertEquals(rank.gpuIdleBlocks(), rank.gpuUsedBlocks());
                        });
    }

    @ParameterizedTest
    @CsvSource({
        "SGLANG_MAP, /flush_cache",
        "VLLM_MAP, /reset_prefix_cache",
    })
    void the_cache_can_be_emptied_while_idle(WireFormat wire, String path) throws Exception {
        SimEngine engine = engine(fast().wire(wire));
        SimClient client = client(engine);
        client.json(COMPLETE, ids(65, ""));
        assertEquals(200, client.post(path, "").statusCode());
        assertEquals(0, engine.stats().ranks().getFirst().gpuCachedBlocks());
        assertEquals(0, cached(client.json(COMPLETE, ids(65, ""))));
    }

    @ParameterizedTest
    @EnumSource(
            value = WireFormat.class,
            names = {"SGLANG_MAP", "VLLM_MAP"})
    void mistakes_are_answered_with_400_in_the_engines_shape(WireFormat wire) throws Exception {
        SimClient client = client(engine(fast().wire(wire).gpuBlocks(10)));
        List<HttpResponse<String>> refused =
                List.of(
                        client.post(CHAT, "{not json"),
                        client.post(CHAT, ""),
                        client.post(CHAT, "[]"),
                        client.post(CHAT, "{\"model\":\"demo\",\"messages\":[]}"),
                        client.post(COMPLETE, "{\"model\":\"demo\"}"),
                        client.post(COMPLETE, "{\"model\":\"demo\",\"prompt\":[1,-1]}"),
                        client.post(COMPLETE, ids(9, ",\"n\":2")),
                        client.post(COMPLETE, ids(9, ",\"stream\":\"yes\"")),
                        client.post(COMPLETE, ids(160, "")));
        for (HttpResponse<String> r : refused) {
            assertEquals(400, r.statusCode(), r.body());
            JsonNode body = TestVectors.json(r.body());
            JsonNode error = wire.sglang() ? body : body.path("error");
            assertEquals(400, error.path("code").intValue(), r.body());
            assertFalse(error.path("message").asText().isEmpty());
        }
        assertEquals(200, client.post(COMPLETE, ids(159, "")).statusCode());
        int unknown = client.post(COMPLETE, ids(9, "").replace("demo", "other")).statusCode();
        assertEquals(wire.sglang() ? 200 : 404, unknown, "only vLLM minds the model's name");
    }

    @Test
    void told_to_fail_it_fails_as_often_as_told() throws Exception {
        SimClient client = client(engine(fast()));
        client.post("/sim/fail?status=429&count=2&retry-after=7", "");
        HttpResponse<String> first = client.post(COMPLETE, ids(9, ""));
        assertEquals(429, first.statusCode());
        assertEquals("7", first.headers().firstValue("retry-after").orElse(""));
        assertEquals(429, client.post(COMPLETE, ids(9, "")).statusCode());
        assertEquals(200, client.post(COMPLETE, ids(9, "")).statusCode());
        assertEquals(400, client.post("/sim/fail?status=banana", "").statusCode());
    }

    @Test
    void told_to_die_it_breaks_off_after_that_many_events() throws Exception {
        SimEngine engine = engine(fast().interToken(Duration.ofMillis(5)));
        SimClient client = client(engine);
        // The reset may overtake events that the client has not read yet: never more than three,
        // and all three as soon as the client is quick enough.
        Awaitility.await().atMost(SOON).until(() -> eventsBeforeBreak(client, 3) == 3);
        assertEquals(200, client.post(COMPLETE, ids(9, "")).statusCode(), "the engine lives on");

        engine.dieAfter(0);
        assertThrows(IOException.class, () -> client.post(COMPLETE, ids(9, "")));
        Awaitility.await().atMost(SOON).until(engine::isDead);
    }

    private static int eventsBeforeBreak(SimClient client, int after) throws Exception {
        client.post("/sim/die?after=" + after + "&scope=connection", "");
        List<String> got = new ArrayList<>();
        try (Stream<String> lines = client.open(CHAT, body(true, "Hello", 30, true, ""))) {
            assertThrows(
                    RuntimeException.class,
                    () -> lines.filter(l -> l.startsWith("data: ")).forEach(got::add));
        }
        assertTrue(got.size() <= after, "events before the end: " + got);
        return got.size();
    }

    @Test
    void a_killed_engine_resets_its_streams_and_its_ports_are_free_again() throws Exception {
        SimEngine engine = engine(fast().interToken(Duration.ofMillis(20)));
        SimClient client = client(engine);
        try (Stream<String> lines = client.open(CHAT, body(true, "Hello", 4000, true, ""))) {
            Iterator<String> events = lines.iterator();
            events.next();
            engine.kill();
            assertThrows(
                    RuntimeException.class,
                    () -> {
                        while (events.hasNext()) {
                            events.next();
                        }
                    });
        }
        SimEngine again =
                engine(
                        fast().port(engine.port())
                                .eventsPort(engine.eventsPort())
                                .replayPort(engine.replayPort()));
        assertEquals(0, cached(client(again).json(COMPLETE, ids(65, ""))), "a fresh cache");
    }

    @Test
    void killed_over_http_it_still_answers_that_request() throws Exception {
        SimEngine engine = engine(fast());
        SimClient client = client(engine);
        assertEquals("{\"killed\":true}", client.post("/sim/kill", "").body());
        Awaitility.await().atMost(SOON).until(engine::isDead);
        assertThrows(IOException.class, () -> client.get("/health"));
    }

    @Test
    void pipelined_requests_are_answered_in_order() throws Exception {
        SimEngine engine = engine(fast());
        URI url = engine.url();
        try (Socket socket = new Socket(url.getHost(), url.getPort())) {
            socket.setSoTimeout(10_000);
            String body = body(true, "Hello", 3, true, "");
            String stream =
                    "POST "
                            + CHAT
                            + " HTTP/1.1\r\nhost: x\r\ncontent-length: "
                            + body.length()
                            + "\r\n\r\n"
                            + body;
            String last = "GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            socket.getOutputStream().write((stream + last).getBytes(StandardCharsets.UTF_8));
            String all = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(
                    all.indexOf("[DONE]") > 0 && all.indexOf("[DONE]") < all.indexOf("owned_by"),
                    all);
        }
    }

    @Test
    void metrics_have_the_engines_names() throws Exception {
        for (WireFormat wire : List.of(WireFormat.SGLANG_MAP, WireFormat.VLLM_MAP)) {
            SimClient client = client(engine(fast().wire(wire)));
            client.json(COMPLETE, ids(65, ""));
            client.json(COMPLETE, ids(65, ""));
            List<String> lines = client.get("/metrics").body().lines().toList();
            List<String> expected =
                    wire.sglang()
                            ? List.of(
                                    "sglang:num_running_reqs 0.0",
                                    "sglang:num_queue_reqs 0.0",
                                    "sglang:token_usage 0.0",
                                    "sglang:cache_hit_rate " + 64 / 130.0)
                            : List.of(
                                    "vllm:num_requests_running 0.0",
                                    "vllm:num_requests_waiting 0.0",
                                    "vllm:kv_cache_usage_perc 0.0",
                                    "vllm:prefix_cache_queries_total 130.0",
                                    "vllm:prefix_cache_hits_total 64.0");
            for (String e : expected) {
                String name = e.substring(0, e.indexOf(' '));
                String value = e.substring(e.indexOf(' '));
                assertTrue(
                        lines.stream().anyMatch(l -> l.startsWith(name + "{") && l.endsWith(value)),
                        e + " in " + lines);
            }
        }
    }

    private static SimOptions.Builder fast() {
        return SimOptions.builder().prefillTokensPerSecond(1e6).interToken(Duration.ofMillis(1));
    }

    private SimEngine engine(SimOptions.Builder options) throws IOException {
        SimEngine engine = SimEngine.start(options.build(), tokenizer);
        open.add(engine);
        return engine;
    }

    private SimClient client(SimEngine engine) {
        SimClient client = new SimClient(engine);
        open.add(client);
        return client;
    }

    private static int cached(JsonNode answer) {
        JsonNode cached = answer.at("/usage/prompt_tokens_details/cached_tokens");
        assertTrue(cached.isIntegralNumber(), () -> "no cached_tokens in " + answer);
        return cached.intValue();
    }

    private static String message(String role, String content) {
        return "{\"role\":\"" + role + "\",\"content\":\"" + content + "\"}";
    }

    private static String body(boolean chat, String text, int tokens, boolean stream, String more) {
        return "{\"model\":\"demo\","
                + (tokens > 0 ? "\"max_tokens\":" + tokens + ",\"ignore_eos\":true," : "")
                + (stream ? "\"stream\":true,\"stream_options\":{\"include_usage\":true}," : "")
                + (chat
                        ? "\"messages\":[" + message("user", text) + "]"
                        : "\"prompt\":\"" + text + "\"")
                + more
                + "}";
    }

    private static String ids(int count, String more) {
        return "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":"
                + IntStream.range(100, 100 + count).boxed().toList()
                + more
                + "}";
    }

    /** Every key as a path; elements of a list count as one. */
    private static Set<String> shape(JsonNode json) {
        Set<String> keys = new TreeSet<>();
        shape(json, "", keys);
        return keys;
    }

    private static void shape(JsonNode json, String at, Set<String> keys) {
        if (json.isArray()) {
            json.forEach(e -> shape(e, at + "[]", keys));
        }
        json.properties()
                .forEach(
                        f -> {
                            keys.add(at + "/" + f.getKey());
                            shape(f.getValue(), at + "/" + f.getKey(), keys);
                        });
    }
}
