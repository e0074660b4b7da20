package io.warmpath.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.model.SimTokenizer;
import io.warmpath.sim.wire.WireFormat;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What SGLang has for agents, from outside, over real HTTP. */
class SimAgentsTest {
    private static final String ERROR = "/error/message";

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

    @Test
    void a_session_is_opened_once_under_the_id_given_or_a_new_one() throws Exception {
        SimClient client = client(streaming());
        HttpResponse<String> first = open(client, ",\"session_id\":\"sub-1\",\"streaming\":true");
        assertEquals(200, first.statusCode());
        assertEquals("\"sub-1\"", first.body());
        HttpResponse<String> again = open(client, ",\"session_id\":\"sub-1\"");
        assertEquals(400, again.statusCode());
        assertTrue(
                TestVectors.json(again.body())
                        .at(ERROR)
                        .textValue()
                        .startsWith("Failed to open the session."),
                again.body());
        String fresh = TestVectors.json(open(client, "").body()).textValue();
        assertEquals(32, fresh.length());
        assertEquals(200, close(client, "sub-1").statusCode());
        assertEquals(200, close(client, "sub-1").statusCode(), "also when it is not there");
        assertEquals(200, open(client, ",\"session_id\":\"sub-1\"").statusCode());
    }

    @Test
    void what_cannot_be_opened_is_refused() throws Exception {
        SimClient client = client(streaming());
        assertEquals(400, client.post("/open_session", "{}").statusCode(), "no capacity");
        assertEquals(400, open(client, ",\"timeout\":\"long\"").statusCode());
        assertEquals(400, client.post("/close_session", "{}").statusCode());
        SimClient plain = client(fast());
        assertTrue(
                open(plain, ",\"streaming\":true").body().contains("--enable-streaming-session"));
        assertEquals(200, open(plain, "").statusCode(), "others need no flag");
        SimClient vllm = client(fast().wire(WireFormat.VLLM_MAP));
        assertEquals(404, open(vllm, "").statusCode());
        assertEquals(404, vllm.get("/v1/loads").statusCode());
    }

    @Test
    void generate_goes_on_from_what_the_session_has() throws Exception {
        SimClient client = client(streaming());
        open(client, ",\"session_id\":\"s\",\"streaming\":true");
        JsonNode first = client.json("/generate", generate(40, 8, in("s")));
        assertEquals(40, first.at("/meta_info/prompt_tokens").intValue());
        JsonNode second = client.json("/generate", generate(5, 3, in("s")));
        assertEquals(53, second.at("/meta_info/prompt_tokens").intValue());
        assertEquals(48, second.at("/meta_info/cached_tokens").intValue());
    }

    @Test
    void chats_and_completions_pass_an_opened_session_over() throws Exception {
        SimClient client = client(streaming());
        open(client, ",\"session_id\":\"s\",\"streaming\":true");
        client.json("/generate", generate(40, 8, in("s")));
        String text = "Nothing that was said before";
        JsonNode with = client.json("/v1/chat/completions", chat(text, in("s")));
        JsonNode without = client.json("/v1/chat/completions", chat(text, ""));
        assertEquals(
                without.at("/usage/prompt_tokens").intValue(),
                with.at("/usage/prompt_tokens").intValue());
        JsonNode third =
                client.json(
                        "/v1/completions", "{\"max_tokens\":2,\"prompt\":[1,2,3]" + in("s") + "}");
        assertEquals(3, third.at("/usage/prompt_tokens").intValue());
        assertEquals(
                200,
                client.post("/v1/chat/completions", chat("Hi", in("nobody"))).statusCode(),
                "nor is it looked for");
        assertEquals(
                400,
                client.post("/v1/chat/completions", chat("Hi", ",\"session_params\":3"))
                        .statusCode(),
                "but it is read");
        assertEquals(
                53,
                client.json("/generate", generate(5, 3, in("s")))
                        .at("/meta_info/prompt_tokens")
                        .intValue(),
                "what the session has is as it was");
    }

    @Test
    void a_request_that_its_session_does_not_take_fails_in_its_own_form() throws Exception {
        SimClient client = client(streaming());
        String none = "Invalid request: session id nobody does not exist";
        HttpResponse<String> whole = client.post("/generate", generate(4, 2, in("nobody")));
        assertEquals(400, whole.statusCode());
        assertEquals(none, TestVectors.json(whole.body()).at(ERROR).textValue());

        String stream = ",\"stream\":true";
        List<String> events = client.events("/generate", generate(4, 2, in("nobody") + stream));
        JsonNode reason = TestVectors.json(events.getFirst()).at("/meta_info/finish_reason");
        assertEquals("abort", reason.path("type").textValue());
        assertEquals(none, reason.path("message").textValue());
        assertEquals("[DONE]", events.getLast());
        assertEquals(
                400,
                client.post("/generate", generate(4, 2, in("s") + ",\"session_id\":\"s\""))
                        .statusCode(),
                "an opened session and a session-radix name");
    }

    @Test
    void a_time_out_is_looked_at_every_second_and_frees_what_was_held() throws Exception {
        SimEngine engine = engine(streaming());
        SimClient client = client(engine);
        open(client, ",\"session_id\":\"s\",\"streaming\":true,\"timeout\":0.5");
        client.json("/generate", generate(64, 40, in("s")));
        assertTrue(metric(client, "sglang:streaming_session_held_tokens") >= 40);
        assertEquals(1, metric(client, "sglang:num_streaming_sessions"));
        JsonNode load = TestVectors.json(client.get("/v1/loads?include=all").body()).at("/loads/0");
        assertEquals(112, load.path("num_used_tokens").intValue(), "104 tokens, by blocks");
        assertEquals(65_536, load.at("/memory/token_capacity").intValue());
        Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .until(() -> metric(client, "sglang:num_streaming_sessions") == 0);
        assertEquals(0, metric(client, "sglang:streaming_session_held_tokens"));
        load = TestVectors.json(client.get("/v1/loads").body()).at("/loads/0");
        assertEquals(0, load.path("num_used_tokens").intValue());
        assertFalse(load.has("memory"));
    }

    @Test
    void each_rank_remembers_only_what_it_has_served() throws Exception {
        SimClient client = client(streaming().ranks(2));
        open(client, ",\"session_id\":\"s\",\"streaming\":true");
        String there = ",\"routed_dp_rank\":1";
        client.json("/generate", generate(40, 8, in("s") + there));
        assertEquals(
                53,
                client.json("/generate", generate(5, 3, in("s") + there))
                        .at("/meta_info/prompt_tokens")
                        .intValue());
        assertEquals(
                5,
                client.json("/generate", generate(5, 3, in("s") + ",\"routed_dp_rank\":0"))
                        .at("/meta_info/prompt_tokens")
                        .intValue(),
                "the other rank knows nothing of it");
        JsonNode loads = TestVectors.json(client.get("/v1/loads?dp_rank=1").body()).path("loads");
        assertEquals(1, loads.size());
        assertEquals(1, loads.at("/0/dp_rank").intValue());
        for (String wrong : List.of("dp_rank=2", "dp_rank=x", "include=cpu", "format=xml")) {
            assertEquals(400, client.get("/v1/loads?" + wrong).statusCode(), wrong);
        }
    }

    @Test
    void closing_a_session_radix_name_makes_the_cache_forget_it() throws Exception {
        SimClient client = client(fast().agents(AgentFeatures.NONE.withRadixSessions()));
        String name = ",\"session_id\":\"sub\"";
        client.json("/generate", generate(64, 2, name));
        JsonNode warm = client.json("/generate", generate(64, 2, name));
        assertEquals(48, warm.at("/meta_info/cached_tokens").intValue());
        close(client, "sub");
        JsonNode cold = client.json("/generate", generate(64, 2, ""));
        assertEquals(0, cold.at("/meta_info/cached_tokens").intValue());
    }

    @Test
    void the_server_says_what_it_was_started_with() throws Exception {
        JsonNode with = TestVectors.json(client(streaming()).get("/server_info").body());
        assertTrue(with.path("enable_streaming_session").booleanValue());
        assertFalse(with.path("enable_session_radix_cache").booleanValue());
        JsonNode without = TestVectors.json(client(fast()).get("/server_info").body());
        assertFalse(without.path("enable_streaming_session").booleanValue());
    }

    @Test
    void a_pinned_prefix_outlives_the_load_that_pushes_out_others() throws Exception {
        SimEngine engine =
                engine(
                        fast().gpuBlocks(16)
                                .hostBlocks(16)
                                .hostLoadTokensPerSecond(1e7)
                                .agents(AgentFeatures.NONE.withPins(0.5)));
        SimClient client = client(engine);
        client.json("/generate", generate(65, 1, ""));
        HttpResponse<String> pinned = pin(client, 64, ",\"ttl_seconds\":300");
        assertEquals(200, pinned.statusCode());
        assertEquals(
                TestVectors.json(
                        "{\"status\":\"ok\",\"nodes_pinned\":4,\"message\":\"Pinned 4 nodes\"}"),
                TestVectors.json(pinned.body()));
        assertEquals(4, engine.stats().sum(SimStats.RankStats::pinnedBlocks));
        for (int i = 1; i < 6; i++) {
            client.json("/generate", generate(i * 10_000, 150, 1, ""));
        }
        JsonNode again = client.json("/generate", generate(65, 1, ""));
        assertEquals(64, again.at("/meta_info/cached_tokens_details/host").intValue());

        JsonNode partial = TestVectors.json(pin(client, 50_000, 144, "").body());
        assertEquals(4, partial.path("nodes_pinned").intValue());
        assertEquals(
                "prefix partially pinned; Pin budget exhausted (128/128 tokens pinned)",
                partial.path("message").textValue());
        HttpResponse<String> none = pin(client, 90_000, 64, "");
        assertEquals(400, none.statusCode());
        assertEquals(
                "No matching prefix found in cache to pin",
                TestVectors.json(none.body()).path("message").textValue());
        assertEquals(400, pin(client, 64, ",\"ttl_seconds\":0").statusCode());
    }

    @Test
    void pins_need_a_build_that_has_them_memory_below_the_gpus_and_a_budget() throws Exception {
        assertEquals(404, pin(client(fast()), 64, "").statusCode());
        HttpResponse<String> flat =
                pin(client(fast().agents(AgentFeatures.NONE.withPins(0.5))), 64, "");
        assertEquals(400, flat.statusCode());
        assertTrue(flat.body().contains("PIN requires --enable-hierarchical-cache"), flat.body());
        SimClient off = client(fast().hostBlocks(64).agents(AgentFeatures.NONE.withPins(0)));
        off.json("/generate", generate(64, 1, ""));
        assertTrue(pin(off, 64, "").body().contains("Pin budget exhausted (0/0 tokens pinned)"));
    }

    @Test
    void kv_hints_pin_the_prompt_of_the_request_they_ride_in() throws Exception {
        SimEngine engine = engine(fast().hostBlocks(64).agents(AgentFeatures.NONE.withPins(0.5)));
        SimClient client = client(engine);
        String hints =
                ",\"kv_hints\":{\"protocol_version\":\"0.1\",\"message_id\":\"m\",\"actions\":["
                        + "{\"action_id\":\"0\",\"action_type\":\"Prefetch\",\"action_version\":"
                        + "\"0.1\",\"payload\":{}},{\"action_id\":\"1\",\"action_type\":\"Pin\","
                        + "\"action_version\":\"0.1\",\"payload\":{\"ttl_seconds\":300}}]}";
        client.json("/generate", generate(64, 1, hints));
        assertEquals(4, engine.stats().sum(SimStats.RankStats::pinnedBlocks));
        assertEquals(
                400, client.post("/generate", generate(4, 1, ",\"kv_hints\":{}")).statusCode());
    }

    @Test
    void what_a_more_important_request_has_left_is_kept_and_the_server_says_so() throws Exception {
        for (boolean byPriority : List.of(true, false)) {
            AgentFeatures agents = AgentFeatures.NONE.withPriorityScheduling(false);
            SimClient client =
                    client(
                            fast().gpuBlocks(16)
                                    .agents(byPriority ? agents.withPriorityEviction() : agents));
            client.json("/generate", generate(64, 1, ",\"priority\":3"));
            for (int i = 1; i < 6; i++) {
                client.json("/generate", generate(i * 10_000, 150, 1, ""));
            }
            JsonNode again = client.json("/generate", generate(65, 1, ""));
            assertEquals(byPriority ? 64 : 0, again.at("/meta_info/cached_tokens").intValue());
            JsonNode info = TestVectors.json(client.get("/server_info").body());
            assertTrue(info.path("enable_priority_scheduling").booleanValue());
            assertFalse(info.path("schedule_low_priority_values_first").booleanValue());
            assertEquals(
                    byPriority ? "priority" : "lru",
                    info.path("radix_eviction_policy").textValue());
        }
    }

    private static HttpResponse<String> pin(SimClient client, int length, String more)
            throws Exception {
        return pin(client, 0, length, more);
    }

    private static HttpResponse<String> pin(SimClient client, int from, int length, String more)
            throws Exception {
        return client.post(
                "/hicache/pin_prefix", "{\"token_ids\":" + ids(from, length) + more + "}");
    }

    private static HttpResponse<String> open(SimClient client, String more) throws Exception {
        return client.post("/open_session", "{\"capacity_of_str_len\":1000" + more + "}");
    }

    private static HttpResponse<String> close(SimClient client, String id) throws Exception {
        return client.post("/close_session", "{\"session_id\":\"" + id + "\"}");
    }

    private static String in(String session) {
        return ",\"session_params\":{\"id\":\"" + session + "\"}";
    }

    private static List<Integer> ids(int from, int length) {
        return IntStream.range(100 + from, 100 + from + length).boxed().toList();
    }

    private static String generate(int prompt, int answer, String more) {
        return generate(0, prompt, answer, more);
    }

    private static String generate(int from, int prompt, int answer, String more) {
        return "{\"input_ids\":"
                + ids(from, prompt)
                + ",\"sampling_params\":{\"ignore_eos\":true,\"max_new_tokens\":"
                + answer
                + "}"
                + more
                + "}";
    }

    private static String chat(String text, String more) {
        return "{\"max_tokens\":6,\"messages\":[{\"role\":\"user\",\"content\":\""
                + text
                + "\"}]"
                + more
                + "}";
    }

    private static double metric(SimClient client, String name) throws Exception {
        return client.get("/metrics")
                .body()
                .lines()
                .filter(l -> l.startsWith(name + "{"))
                .mapToDouble(l -> Double.parseDouble(l.substring(l.lastIndexOf(' ') + 1)))
                .sum();
    }

    private static SimOptions.Builder fast() {
        return SimOptions.builder().prefillTokensPerSecond(1e6).interToken(Duration.ofMillis(1));
    }

    private static SimOptions.Builder streaming() {
        return fast().agents(AgentFeatures.NONE.withStreamingSessions());
    }

    private SimEngine engine(SimOptions.Builder options) throws IOException {
        SimEngine engine = SimEngine.start(options.build(), tokenizer);
        open.add(engine);
        return engine;
    }

    private SimClient client(SimOptions.Builder options) throws IOException {
        return client(engine(options));
    }

    private SimClient client(SimEngine engine) {
        SimClient client = new SimClient(engine);
        open.add(client);
        return client;
    }
}
