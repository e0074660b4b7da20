package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.warmpath.adapter.trtllm.CacheDouble;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The whole gateway before a server with TensorRT-LLM's interface, that nothing is configured of
 * but its address: it is recognised, asked for its events, and what is predicted is what its cache
 * has, whole blocks of 32 tokens.
 */
class PolledEngineTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int SIZE = 32;
    private static final String MODELS =
            """
            {"object":"list","data":[{"id":"tiny","object":"model","created":0,\
            "owned_by":"tensorrt_llm"}]}\
            """;

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private final CacheDouble cache = new CacheDouble(SIZE, 40, 20, random);
    private final AtomicInteger inVain = new AtomicInteger();
    private volatile boolean silent;
    private HttpServer engine;
    private SimGateway gateway;

    @BeforeEach
    void start() throws Exception {
        engine = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        engine.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        engine.createContext("/", this::answer);
        engine.start();
        gateway =
                SimGateway.start(
                        Map.of(
                                "warmpath.workers[0].url",
                                "http://127.0.0.1:" + engine.getAddress().getPort()));
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        engine.stop(0);
    }

    private void answer(HttpExchange call) throws IOException {
        byte[] asked = call.getRequestBody().readAllBytes();
        String path = call.getRequestURI().getPath();
        String said =
                switch (path) {
                    case "/v1/models" -> MODELS;
                    case "/version" -> "{\"version\":\"1.2.1\"}";
                    case "/health" -> "";
                    case "/kv_cache_events" -> silent ? null : events();
                    case "/v1/completions" -> completion(JSON.readTree(asked).path("prompt"));
                    default -> null;
                };
        byte[] body = (said == null ? "Not Found" : said).getBytes(StandardCharsets.UTF_8);
        call.getResponseHeaders().add("content-type", "application/json");
        call.sendResponseHeaders(said == null ? 404 : 200, body.length == 0 ? -1 : body.length);
        call.getResponseBody().write(body);
        call.close();
    }

    /** An answer is applied before the next question: who asks in vain knows all. */
    private String events() {
        if (cache.isQuiet()) {
            inVain.incrementAndGet();
        }
        return cache.drain();
    }

    private void untilAllIsKnown() {
        int before = inVain.get();
        await().pollInterval(Duration.ofMillis(5)).until(() -> inVain.get() > before + 1);
    }

    private String completion(JsonNode ids) {
        int[] prompt = new int[ids.size()];
        Arrays.setAll(prompt, i -> ids.get(i).asInt());
        int cached = SIZE * found(prompt);
        cache.run(prompt);
        return """
        {"id":"c","object":"text_completion","created":0,"model":"tiny",
        "choices":[{"index":0,"text":"a","finish_reason":"length"}],
        "usage":{"prompt_tokens":%d,"completion_tokens":1,"total_tokens":%d,
        "prompt_tokens_details":{"cached_tokens":%d}}}
        """
                .formatted(prompt.length, prompt.length + 1, cached);
    }

    /** A prompt's last token is always computed. */
    private int found(int[] prompt) {
        return cache.depth(Arrays.copyOf(prompt, prompt.length - 1), 1);
    }

    private int[] prompt() {
        int[] prompt = new int[2 + random.nextInt(SIZE * 6)];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = i % SIZE == 0 ? random.nextInt(3) : 7 + i % SIZE;
        }
        return prompt;
    }

    private JsonNode source() throws IOException, InterruptedException {
        return JSON.readTree(gateway.get("/events/sources").body()).findParent("state");
    }

    private HttpResponse<String> send(int[] prompt) throws IOException, InterruptedException {
        ObjectNode body = JSON.createObjectNode().put("model", "tiny").put("max_tokens", 1);
        body.set("prompt", JSON.valueToTree(prompt));
        return gateway.post("/v1/completions", body.toString(), "x-warmpath-explain", "1");
    }

    @Test
    void predicted_is_what_the_engine_has_in_whole_blocks() throws Exception {
        int hits = 0;
        for (int i = 0; i < 40; i++) {
            int[] prompt = prompt();
            untilAllIsKnown();
            int expected = SIZE * found(prompt);
            HttpResponse<String> answer = send(prompt);
            assertEquals(200, answer.statusCode(), answer.body());
            assertEquals(
                    Integer.toString(expected),
                    header(answer, "x-warmpath-predicted-cached-tokens"),
                    "seed " + seed + ", request " + i);
            assertEquals(
                    "the engine reuses parts of blocks", header(answer, "x-warmpath-not-exact"));
            hits += expected > 0 ? 1 : 0;
        }
        assertTrue(hits > 10, hits + " hits, seed " + seed);
        untilAllIsKnown();
        assertEquals("exact", source().path("state").asText());
        assertEquals(cache.lastId(), source().path("sequence").asLong(-1));
        assertTrue(source().toString().contains("/kv_cache_events"), source().toString());
    }

    @Test
    void events_that_do_not_come_any_more_are_told_of_and_count_for_nothing() throws Exception {
        int[] prompt = new int[SIZE * 3];
        send(prompt);
        untilAllIsKnown();
        silent = true;
        await().atMost(Duration.ofSeconds(20))
                .until(() -> source().path("state").asText().equals("gone"));
        assertTrue(
                source().toString().contains("POST /kv_cache_events: it answered 404"),
                source().toString());
        HttpResponse<String> answer = send(prompt);
        assertEquals(200, answer.statusCode());
        assertEquals("0", header(answer, "x-warmpath-predicted-cached-tokens"));
        assertEquals("the worker's events are behind", header(answer, "x-warmpath-not-exact"));
        assertTrue(gateway.counted("warmpath.events.poll.failures") >= 3);
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElse("none");
    }
}
