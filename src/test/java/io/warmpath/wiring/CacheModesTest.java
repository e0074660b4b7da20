package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.Router;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Routing without KV events, by the whole gateway in front of two simulated engines. */
class CacheModesTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int BLOCKS = 20;

    private final Vertx vertx = Vertx.vertx();
    private final HttpClient client = HttpClient.newHttpClient();
    private final List<AutoCloseable> open = new ArrayList<>();
    private int port;

    @BeforeEach
    void closeVertxLast() {
        open.add(() -> vertx.close().toCompletionStage().toCompletableFuture().get());
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable c : open.reversed()) {
            c.close();
        }
        client.close();
    }

    private void start(Map<String, String> more) throws Exception {
        SimTokenizer tokenizer = SimTokenizer.demo();
        open.add(tokenizer);
        List<String> urls = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            SimEngine engine = SimEngine.start(SimOptions.builder().build(), tokenizer);
            open.add(engine);
            urls.add(engine.url().toString());
        }
        Map<String, String> properties = new HashMap<>(more);
        properties.put("warmpath.worker-urls", String.join(",", urls));
        properties.put("warmpath.warmup.requests", "0");
        GatewayRuntime gateway =
                new GatewayRuntime(TestConfig.of(properties), vertx, new SimpleMeterRegistry());
        open.add(gateway);
        Router router = Router.router(vertx);
        gateway.mount(router);
        gateway.start();
        HttpServer server =
                vertx.createHttpServer(
                                new HttpServerOptions()
                                        .setHost("127.0.0.1")
                                        .setPort(0)
                                        .setMaxChunkSize(64 << 10)
                                        .setHttp2ClearTextEnabled(false))
                        .requestHandler(
                                request -> {
                                    request.pause(); // as Quarkus does
                                    router.handle(request);
                                })
                        .listen()
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS);
        port = server.actualPort();
        await().atMost(SOON).until(() -> get("/workers").split("\"ready\"", -1).length == 3);
    }

    private String get(String path) throws IOException, InterruptedException {
        return client.send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    /** The answer to a prompt that only this {@code number} has. */
    private HttpResponse<String> ask(int number) throws IOException, InterruptedException {
        String ids =
                IntStream.range(0, BLOCKS * 16 + 1)
                        .mapToObj(i -> Integer.toString(number * 100 + i % 90))
                        .collect(Collectors.joining(","));
        HttpResponse<String> answer =
                client.send(
                        HttpRequest.newBuilder(
                                        URI.create("http://127.0.0.1:" + port + "/v1/completions"))
                                .header("x-warmpath-explain", "1")
                                .POST(
                                        HttpRequest.BodyPublishers.ofString(
                                                "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":["
                                                        + ids
                                                        + "]}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElseThrow();
    }

    /** Each prompt is asked twice: the second time it goes where it went, as something is known. */
    private void the_second_time_a_prompt_goes_where_it_went(String reason) throws Exception {
        for (int number = 1; number <= 4; number++) {
            HttpResponse<String> first = ask(number);
            assertTrue(
                    header(first, "x-warmpath-matched-blocks").startsWith("gpu=0;"),
                    header(first, "x-warmpath-matched-blocks"));
            HttpResponse<String> second = ask(number);
            assertTrue(
                    header(second, "x-warmpath-matched-blocks").startsWith("gpu=" + BLOCKS + ";"),
                    header(second, "x-warmpath-matched-blocks"));
            assertEquals(header(first, "x-warmpath-worker"), header(second, "x-warmpath-worker"));
            assertTrue(
                    header(second, "x-warmpath-reason").contains(reason),
                    header(second, "x-warmpath-reason"));
        }
    }

    @Test
    void without_events_a_prompt_goes_where_it_went() throws Exception {
        start(Map.of("warmpath.router.use-kv-events", "false"));
        the_second_time_a_prompt_goes_where_it_went("lowest cost");
    }

    @Test
    void in_mode_vllm_cache_aware_a_prompt_goes_where_it_went() throws Exception {
        start(Map.of("warmpath.router.mode", "vllm-cache-aware"));
        // The fleet is idle: no load is below the mean, and of equal loads the longer prefix wins.
        the_second_time_a_prompt_goes_where_it_went("the cache hit, 20 of 20 blocks (1.00) at");
    }
}
