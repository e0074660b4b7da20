package io.warmpath.sim;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.half.Disaggregation;
import io.warmpath.sim.half.Disaggregation.Mode;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two simulated engines that share a request, beside what two SGLangs said (0.5.23). */
class HalvesTest {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration TIMEOUT = Duration.ofMillis(600);
    private static SimTokenizer tokenizer;
    private static JsonNode recorded;

    private final List<AutoCloseable> open = new ArrayList<>();
    private SimEngine prefill;
    private SimEngine decode;
    private SimClient toPrefill;
    private SimClient toDecode;

    @BeforeAll
    static void load() throws IOException {
        tokenizer = SimTokenizer.demo();
        recorded = TestVectors.file("captures/http/sglang-halves.json");
    }

    @AfterAll
    static void closeTokenizer() {
        tokenizer.close();
    }

    @BeforeEach
    void start() throws IOException {
        prefill = engine(Mode.PREFILL, 25e9 / 8);
        decode = engine(Mode.DECODE, 25e9 / 8);
        toPrefill = client(prefill);
        toDecode = client(decode);
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable c : open.reversed()) {
            c.close();
        }
    }

    private SimEngine engine(Mode mode, double bytesPerSecond) throws IOException {
        return engine(
                new Disaggregation(
                        mode, 0, 128 << 10, bytesPerSecond, Duration.ofMillis(1), TIMEOUT));
    }

    private SimEngine engine(Disaggregation role) throws IOException {
        SimEngine engine =
                SimEngine.start(
                        SimOptions.builder()
                                .gpuBlocks(64)
                                .prefillTokensPerSecond(1e6)
                                .interToken(Duration.ofNanos(200_000))
                                .disaggregation(role)
                                .build(),
                        tokenizer);
        open.add(engine);
        return engine;
    }

    private SimClient client(SimEngine engine) {
        SimClient client = new SimClient(engine);
        open.add(client);
        return client;
    }

    private String generate(int first, int tokens, int answer, boolean stream, long room) {
        return generate(first, tokens, answer, stream, room, prefill.bootstrapPort());
    }

    private static String generate(
            int first, int tokens, int answer, boolean stream, long room, int port) {
        String ids =
                IntStream.range(first, first + tokens)
                        .mapToObj(Integer::toString)
                        .collect(Collectors.joining(","));
        return "{\"input_ids\":["
                + ids
                + "],\"stream\":"
                + stream
                + ",\"sampling_params\":{\"ignore_eos\":true,\"max_new_tokens\":"
                + answer
                + "},\"bootstrap_host\":\"127.0.0.1\",\"bootstrap_port\":"
                + port
                + ",\"bootstrap_room\":"
                + room
                + "}";
    }

    private static CompletableFuture<HttpResponse<String>> send(SimClient to, String body) {
        return to.later("/generate", body);
    }

    private static HttpResponse<String> got(CompletableFuture<HttpResponse<String>> answer)
            throws Exception {
        return answer.get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    private void nobodyWaits() {
        await().atMost(SOON)
                .untilAsserted(
                        () -> {
                            for (SimEngine e : List.of(prefill, decode)) {
                                assertEquals(0, e.stats().rooms());
                                assertEquals(0, e.stats().sum(SimStats.RankStats::running));
                                assertEquals(0, e.stats().sum(SimStats.RankStats::waiting));
                            }
                        });
    }

    /** What is told with other numbers in each answer. */
    private static String likeRecorded(String text) {
        return text.replaceAll("rid='[^']*'", "rid='x'")
                .replaceAll("(room=|Request )\\d+", "$1N")
                .replaceAll("after [0-9.]+s", "after Ts");
    }

    private static void assertRecorded(String name, HttpResponse<String> answer) {
        JsonNode was = recorded.path(name);
        assertEquals(was.path("status").asInt(), answer.statusCode(), answer::body);
        assertEquals(likeRecorded(was.path("body").asText()), likeRecorded(answer.body()));
    }

    @Test
    void both_answer_and_who_decodes_tells_what_the_other_one_found() throws Exception {
        SimEngine whole =
                SimEngine.start(
                        SimOptions.builder().interToken(Duration.ofNanos(200_000)).build(),
                        tokenizer);
        open.add(whole);
        SimClient toWhole = client(whole);
        for (int turn = 0; turn < 2; turn++) {
            String body = generate(5, 100, 8, false, 7_000_000_000_000_000_000L + turn);
            var first = send(toPrefill, body);
            var second = send(toDecode, body);
            JsonNode p = TestVectors.json(got(first).body());
            JsonNode d = TestVectors.json(got(second).body());
            JsonNode all = toWhole.json("/generate", body);
            assertEquals(all.path("output_ids"), d.path("output_ids"));
            assertEquals(all.path("text"), d.path("text"));
            assertEquals(1, p.path("output_ids").size());
            assertEquals(all.at("/output_ids/0"), p.at("/output_ids/0"));
            for (Map.Entry<String, JsonNode> each :
                    Map.of("prefill", p.path("meta_info"), "decode", d.path("meta_info"))
                            .entrySet()) {
                JsonNode was =
                        TestVectors.json(recorded.path(each.getKey()).path("body").asText())
                                .path("meta_info");
                JsonNode is = each.getValue();
                for (String same : List.of("finish_reason", "prompt_tokens", "completion_tokens")) {
                    assertEquals(was.path(same), is.path(same), each.getKey());
                }
                if (turn == 1) { // as recorded: the second time
                    assertEquals(was.path("cached_tokens"), is.path("cached_tokens"));
                    assertEquals(
                            was.path("cached_tokens_details"), is.path("cached_tokens_details"));
                }
            }
        }
        assertEquals(0, decode.stats().sum(SimStats.RankStats::publishedBatches) - 1, "no events");
        assertTrue(prefill.stats().sum(SimStats.RankStats::publishedBatches) > 1);
        nobodyWaits();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void either_may_come_first_and_a_chat_is_split_alike(boolean prefillFirst) throws Exception {
        String body = generate(9, 50, 4, true, 3);
        var early = send(prefillFirst ? toPrefill : toDecode, body);
        await().atMost(SOON).until(() -> prefill.stats().rooms() == 1);
        assertTrue(!early.isDone(), "alone it is not answered");
        var late = send(prefillFirst ? toDecode : toPrefill, body);
        int events = SimClient.events(got(prefillFirst ? late : early).body()).size();
        assertEquals(5, events);
        assertEquals(2, SimClient.events(got(prefillFirst ? early : late).body()).size());
        nobodyWaits();
    }

    @Test
    void alone_each_gives_up_in_the_words_of_a_real_one() throws Exception {
        var p = send(toPrefill, generate(5, 40, 4, false, 11));
        var d = send(toDecode, generate(5, 40, 4, false, 12));
        var streamed = send(toDecode, generate(5, 40, 4, true, 13));
        assertRecorded("prefill_alone", got(p));
        assertRecorded("decode_alone", got(d));
        assertRecorded("decode_alone_stream", got(streamed));
        nobodyWaits();
        assertEquals(0, decode.stats().sum(SimStats.RankStats::gpuUsedBlocks));
    }

    @Test
    void without_a_room_nothing_is_done() throws Exception {
        String body = "{\"input_ids\":[1,2,3],\"sampling_params\":{}}";
        assertRecorded("no_room", toDecode.post("/generate", body));
        assertRecorded("no_room", toPrefill.post("/generate", body));
        assertEquals(
                400,
                toDecode.post("/generate", generate(1, 3, 1, false, 1).replace(":1}", ":\"a\"}"))
                        .statusCode());
    }

    @Test
    void the_registry_answers_like_a_real_one() throws Exception {
        URI registry = URI.create("http://127.0.0.1:" + prefill.bootstrapPort());
        try (SimClient client = new SimClient(registry)) {
            assertEquals("OK", client.get("/health").body());
            assertRecorded("route_without", client.get("/route"));
            JsonNode is =
                    TestVectors.json(
                            client.get(
                                            "/route?prefill_dp_rank=-1&prefill_cp_rank=-1"
                                                    + "&target_tp_rank=-1&target_pp_rank=-1")
                                    .body());
            JsonNode was = TestVectors.json(recorded.path("route").path("body").asText());
            is.properties()
                    .forEach(
                            e -> {
                                if (!e.getKey().equals("prefill_http_port")) {
                                    assertEquals(was.path(e.getKey()), e.getValue(), e.getKey());
                                }
                            });
            assertEquals(prefill.port(), is.path("prefill_http_port").asInt());
        }
    }

    @Test
    void a_client_that_leaves_frees_its_half_and_the_other_one_hears_of_it() throws Exception {
        var d = send(toDecode, generate(5, 40, 4, false, 21));
        await().atMost(SOON).until(() -> decode.stats().rooms() == 1);
        CompletableFuture<?> leaving = toPrefill.later("/generate", generate(5, 900, 4, true, 22));
        await().atMost(SOON).until(() -> prefill.stats().rooms() == 2);
        leaving.cancel(true);
        await().atMost(SOON).until(() -> prefill.stats().rooms() == 1);
        assertEquals(500, got(d).statusCode(), "nobody came");
        nobodyWaits();
    }

    @Test
    void who_has_no_pages_waits_and_the_other_one_with_it() throws Exception {
        String big = generate(5, 900, 100, false, 31); // 63 of its 64 pages
        var p = send(toPrefill, big);
        var d = send(toDecode, big);
        await().atMost(SOON).until(() -> decode.stats().sum(SimStats.RankStats::running) == 1);
        var secondDecode = send(toDecode, generate(2000, 300, 8, false, 32));
        await().atMost(SOON).until(() -> decode.stats().sum(SimStats.RankStats::waiting) == 1);
        var secondPrefill = send(toPrefill, generate(2000, 300, 8, false, 32));
        assertEquals(200, got(p).statusCode());
        assertEquals(200, got(d).statusCode());
        assertEquals(200, got(secondDecode).statusCode());
        assertEquals(200, got(secondPrefill).statusCode());
        nobodyWaits();
    }

    @ParameterizedTest
    @CsvSource({"100e6, 1", "400e6, 1", "100e6, 4"})
    void a_transfer_takes_what_its_bytes_take_and_several_share_the_network(
            double bytesPerSecond, int together) throws Exception {
        SimEngine p = engine(Mode.PREFILL, bytesPerSecond);
        SimClient to = client(p);
        long began = System.nanoTime();
        List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
        for (int i = 0; i < together; i++) {
            String body = generate(100 + 200 * i, 100, 2, false, i, p.bootstrapPort());
            all.add(send(toDecode, body));
            all.add(send(to, body));
        }
        for (var each : all) {
            assertEquals(200, got(each).statusCode());
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        double least = together * (100 * (128 << 10) / bytesPerSecond + 0.001);
        assertTrue(seconds >= least, seconds + " s, at least " + least);
    }

    @Test
    void a_killed_engine_is_waited_for_until_the_time_is_over() throws Exception {
        var d = send(toDecode, generate(5, 40, 4, false, 41));
        await().atMost(SOON).until(() -> prefill.stats().rooms() == 1);
        prefill.kill();
        HttpResponse<String> answer = got(d);
        assertEquals(500, answer.statusCode());
        // These two engines' time-out is shorter than two heartbeats.
        assertEquals(
                likeRecorded(recorded.path("decode_alone").path("body").asText()),
                likeRecorded(answer.body()));
        assertEquals(0, decode.stats().rooms());
    }
}
