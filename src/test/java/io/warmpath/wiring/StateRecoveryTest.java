package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway that is killed at any instant knows, once it has caught up, what one knows that always
 * ran: real processes, real sockets, engines that evict, and replay buffers that hold a small part
 * of what was said. {@code -Dtest.kills=N} kills more often.
 */
class StateRecoveryTest {
    private static final int KILLS = Integer.getInteger("test.kills", 2);
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * Batches that an engine can say again: more than come while a gateway is down, and fewer than
     * it took to fill the cache.
     */
    private static final int BUFFER = 24;

    /** Prompts that an engine holds at once, of {@link #PROMPTS}. */
    private static final int ROOM = 20;

    private static final int PROMPTS = 24;
    private static final int BLOCKS = 6;

    private final HttpClient client = HttpClient.newHttpClient();
    private @TempDir Path folder;
    private SimGateway twin;
    private Process child;
    private URI url = URI.create("http://127.0.0.1");

    @AfterEach
    void stop() throws Exception {
        if (child != null) {
            child.destroyForcibly().waitFor();
        }
        client.close();
        if (twin != null) {
            twin.close();
        }
    }

    private void engines() throws Exception {
        SimOptions.Builder[] engines = new SimOptions.Builder[2];
        for (int i = 0; i < engines.length; i++) {
            engines[i] =
                    SimOptions.builder().bufferSteps(BUFFER).gpuBlocks(ROOM * BLOCKS).speed(1000);
        }
        twin = SimGateway.start(Map.of(), engines);
    }

    private void startChild(boolean keeps) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx256m",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                GatewayChild.class.getName(),
                                "warmpath.warmup.requests=0",
                                "warmpath.worker-urls="
                                        + String.join(
                                                ",",
                                                twin.engines.stream()
                                                        .map(e -> e.url().toString())
                                                        .toList())));
        if (keeps) {
            command.add("warmpath.state.directory=" + folder.resolve("state"));
            command.add("warmpath.state.interval=20ms");
        }
        child = new ProcessBuilder(command).redirectError(folder.resolve("log").toFile()).start();
        BufferedReader out =
                new BufferedReader(
                        new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8));
        for (String line = out.readLine(); ; line = out.readLine()) {
            if (line == null) {
                throw new IOException(
                        "the gateway's process ended before it listened: "
                                + Files.readString(folder.resolve("log")));
            }
            if (line.startsWith("port ")) {
                url = URI.create("http://127.0.0.1:" + line.substring(5));
                break;
            }
        }
        // Its log must not fill the pipe.
        Thread.ofVirtual().start(() -> out.lines().forEach(l -> {}));
    }

    private static String prompt(int number) {
        StringBuilder ids = new StringBuilder("[");
        for (int i = 0; i < BLOCKS * 16 + 1; i++) {
            ids.append(i == 0 ? "" : ",").append(number * 100 + i % 90);
        }
        return ids.append(']').toString();
    }

    /** Every fourth prompt lies in a space of its own. */
    private static String salt(int number) {
        return number % 4 == 0 ? ",\"cache_salt\":\"tenant-" + number + "\"" : "";
    }

    private HttpResponse<String> post(URI to, String json) throws Exception {
        return client.send(
                HttpRequest.newBuilder(to)
                        .timeout(SOON)
                        .header("content-type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(json))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** Engines compute, and tell both gateways. */
    private void compute(Random random, int requests) throws Exception {
        for (int i = 0; i < requests; i++) {
            int number = random.nextInt(PROMPTS);
            URI engine = twin.engines.get(random.nextInt(2)).url();
            HttpResponse<String> answer =
                    post(
                            engine.resolve("/v1/completions"),
                            "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":"
                                    + prompt(number)
                                    + salt(number)
                                    + "}");
            assertEquals(200, answer.statusCode(), answer.body());
        }
    }

    /** Worker's state and newest batch, by worker id. */
    private Map<String, String> sources(String json) throws IOException {
        Map<String, String> sources = new TreeMap<>();
        for (JsonNode s : JSON.readTree(json).get("data")) {
            sources.put(
                    s.get("worker_id").textValue(),
                    s.get("state").textValue() + " " + s.path("sequence").asText());
        }
        return sources;
    }

    private void awaitCaughtUp() {
        await().atMost(SOON)
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(
                        () -> {
                            Map<String, String> want = sources(twin.get("/events/sources").body());
                            assertTrue(
                                    want.values().stream().allMatch(s -> s.startsWith("exact")),
                                    want.toString());
                            // An engine may tell what it stored after it has answered.
                            assertEquals(newest(), want.values().stream().sorted().toList());
                            HttpRequest ask =
                                    HttpRequest.newBuilder(url.resolve("/events/sources")).build();
                            assertEquals(
                                    want,
                                    sources(
                                            client.send(ask, HttpResponse.BodyHandlers.ofString())
                                                    .body()));
                        });
    }

    /** What sources are like that have all that the engines have said. */
    private List<String> newest() throws Exception {
        List<String> all = new ArrayList<>();
        for (SimEngine engine : twin.engines) {
            HttpRequest ask = HttpRequest.newBuilder(engine.url().resolve("/sim/stats")).build();
            JsonNode rank =
                    JSON.readTree(client.send(ask, HttpResponse.BodyHandlers.ofString()).body())
                            .at("/ranks/0");
            assertEquals(0, rank.get("running").asInt() + rank.get("waiting").asInt());
            long published = rank.get("published_batches").asLong();
            all.add("exact " + (published == 0 ? "" : published - 1));
        }
        all.sort(null);
        return all;
    }

    /** Per prompt and worker the depths that are known. */
    private List<String> known(boolean ofTwin) throws Exception {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < PROMPTS; i++) {
            String question = "{\"token_ids\":" + prompt(i) + salt(i) + "}";
            HttpResponse<String> answer =
                    ofTwin
                            ? twin.post("/router/overlap_scores", question)
                            : post(url.resolve("/router/overlap_scores"), question);
            assertEquals(200, answer.statusCode(), answer.body());
            all.add(answer.body());
        }
        return all;
    }

    @Test
    void a_gateway_killed_at_any_instant_knows_what_one_that_always_ran_knows() throws Exception {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        System.out.println("StateRecoveryTest -Dwarmpath.test.seed=" + seed);
        Random random = new Random(seed);
        engines();
        startChild(true);
        awaitCaughtUp(); // more will be said than could be said again
        compute(random, 150);
        awaitCaughtUp();
        for (int kill = 0; kill < KILLS; kill++) {
            // Batches are coming while it dies, and snapshots are being written all the time.
            compute(random, 5 + random.nextInt(10));
            int micros = random.nextInt(30_000);
            Thread killer =
                    Thread.ofVirtual()
                            .start(
                                    () -> {
                                        try {
                                            TimeUnit.MICROSECONDS.sleep(micros);
                                        } catch (InterruptedException e) {
                                            Thread.currentThread().interrupt();
                                        }
                                        child.destroyForcibly();
                                    });
            compute(new Random(seed + kill), 10);
            killer.join();
            child.waitFor();
            compute(random, 5);
            startChild(true);
            awaitCaughtUp();
            assertEquals(known(true), known(false), "after kill " + kill);
            compute(random, 20);
            awaitCaughtUp();
            assertEquals(known(true), known(false), "and going on");
        }
        child.destroyForcibly().waitFor();
        // The control: without its files a gateway cannot know what the replay no longer has.
        startChild(false);
        await().atMost(SOON)
                .untilAsserted(
                        () ->
                                assertTrue(
                                        known(false)
                                                .toString()
                                                .contains("\"gpu_blocks\":" + BLOCKS)));
        assertNotEquals(known(true), known(false), "the replay alone would have been enough");
    }

    @Test
    void where_no_events_are_followed_a_state_directory_is_refused() {
        Vertx vertx = Vertx.vertx();
        try {
            StartFailure e =
                    assertThrows(
                            StartFailure.class,
                            () ->
                                    new GatewayRuntime(
                                            TestConfig.of(
                                                    Map.of(
                                                            "warmpath.state.directory",
                                                            folder.toString(),
                                                            "warmpath.router.use-kv-events",
                                                            "false")),
                                            vertx,
                                            new SimpleMeterRegistry()));
            assertTrue(
                    String.valueOf(e.getMessage()).contains("follows no KV events"),
                    e.getMessage());
            e =
                    assertThrows(
                            StartFailure.class,
                            () ->
                                    new GatewayRuntime(
                                            TestConfig.of(
                                                    Map.of(
                                                            "warmpath.state.directory",
                                                            folder.toString(),
                                                            "warmpath.index.implementation",
                                                            "java")),
                                            vertx,
                                            new SimpleMeterRegistry()));
            assertTrue(
                    String.valueOf(e.getMessage()).contains("needs the native index"),
                    e.getMessage());
            e =
                    assertThrows(
                            StartFailure.class,
                            () ->
                                    new GatewayRuntime(
                                            TestConfig.of(
                                                    Map.of(
                                                            "warmpath.state.directory",
                                                            folder.toString(),
                                                            "warmpath.events.plane",
                                                            "nats")),
                                            vertx,
                                            new SimpleMeterRegistry()));
            assertTrue(
                    String.valueOf(e.getMessage()).contains("lie in NATS' object store"),
                    e.getMessage());
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }
}
