package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.wire.WireFormat;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Engines that fail, stop, slow down or take their leave; no client may notice. */
@Tag("slow")
class FleetHealthOnSimTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration SOON = Duration.ofSeconds(20);

    /** So many that a request of ours which has just ended does not outweigh them. */
    private static final int OTHERS = 8;

    private final HttpClient direct = HttpClient.newHttpClient();
    private SimGateway gateway;

    private void start(Map<String, String> more) throws Exception {
        Map<String, String> settings = new HashMap<>(more);
        settings.put("warmpath.router.use-kv-events", "false");
        settings.put("warmpath.fleet.health-interval", "50ms");
        settings.put("warmpath.fleet.unhealthy-interval", "50ms");
        settings.putIfAbsent("warmpath.fleet.health-timeout", "10s"); // the machine may be busy
        settings.putIfAbsent("warmpath.health.pause-min", "300ms");
        settings.put("warmpath.health.slow-start", "100ms");
        gateway =
                SimGateway.start(
                        settings, engine(WireFormat.SGLANG_MAP), engine(WireFormat.VLLM_MAP));
    }

    private static SimOptions.Builder engine(WireFormat wire) {
        return SimOptions.builder()
                .wire(wire)
                .models(List.of("m"))
                .maxBatch(64)
                .prefillTokensPerSecond(1e6)
                .interToken(Duration.ofMillis(10));
    }

    @AfterEach
    void stop() throws Exception {
        for (SimEngine e : gateway.engines) {
            tell(e, "/sim/stop?on=0");
        }
        gateway.close();
        direct.close();
    }

    private void tell(SimEngine engine, String what) throws Exception {
        HttpResponse<String> done =
                direct.send(
                        HttpRequest.newBuilder(URI.create(engine.url() + what)).build(),
                        HttpResponse.BodyHandlers.ofString());
        assertEquals(200, done.statusCode(), done.body());
    }

    /** By the worker's number, which is the engine's. */
    private JsonNode worker(int number) {
        try {
            return JSON.readTree(gateway.get("/workers/w" + number).body());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private void awaitState(int number, String state) {
        await().atMost(SOON)
                .untilAsserted(() -> assertEquals(state, worker(number).get("state").asText()));
    }

    /** No two prompts begin alike, or a cached prefix would draw a request. */
    private static String ask(int number, int tokens, boolean stream) {
        return "{\"model\":\"m\",\"stream\":"
                + stream
                + ",\"max_tokens\":"
                + tokens
                + ",\"ignore_eos\":true,\"messages\":[{\"role\":\"user\",\"content\":\""
                + number
                + " "
                + System.nanoTime()
                + " is the question\"}]}";
    }

    private void assertAnswered(int requests) throws Exception {
        for (int i = 0; i < requests; i++) {
            HttpResponse<String> answer =
                    gateway.post("/v1/chat/completions", ask(i, 3, i % 2 == 0));
            assertEquals(200, answer.statusCode(), answer.body());
        }
    }

    private long received(int number) {
        return gateway.engines.get(number).stats().requests();
    }

    @Test
    void an_engine_that_answers_500_while_it_says_it_is_well_is_suspended_and_comes_back()
            throws Exception {
        start(Map.of("warmpath.health.failures", "3", "warmpath.health.pause-min", "2s"));
        tell(gateway.engines.get(0), "/sim/fail?status=500");
        while (!worker(0).get("state").asText().equals("suspended")) {
            assertAnswered(1);
        }
        assertTrue(worker(0).get("problem").asText().startsWith("its requests fail"));
        long tried = received(0);
        tell(gateway.engines.get(0), "/sim/fail?status=0");
        assertAnswered(3);
        assertEquals(tried, received(0), "it gets nothing");
        awaitState(0, "trial");
        while (!worker(0).get("state").asText().equals("ready")) {
            assertAnswered(1);
        }
        assertTrue(received(0) >= tried + 3);
        assertEquals(1, gateway.counted("warmpath.worker.suspensions"));
    }

    @Test
    void an_engine_that_has_stopped_gets_no_requests_until_it_goes_on() throws Exception {
        start(Map.of("warmpath.fleet.health-timeout", "300ms"));
        tell(gateway.engines.get(0), "/sim/stop");
        awaitState(0, "unhealthy");
        assertAnswered(4);
        tell(gateway.engines.get(0), "/sim/stop?on=0");
        awaitState(0, "ready");
        assertAnswered(4);
    }

    @Test
    void an_engine_that_says_it_is_draining_finishes_and_gets_nothing_new() throws Exception {
        start(Map.of());
        CompletableFuture<HttpResponse<String>> both =
                CompletableFuture.supplyAsync(() -> post(ask(1, 150, true)))
                        .thenCombine(
                                CompletableFuture.supplyAsync(() -> post(ask(2, 150, true))),
                                (a, b) -> a.statusCode() == 200 ? b : a);
        await().atMost(SOON).until(() -> received(0) > 0 && received(1) > 0);
        tell(gateway.engines.get(0), "/sim/health?status=503&text=draining");
        awaitState(0, "paused");
        long before = received(0);
        assertAnswered(4);
        assertEquals(before, received(0));
        HttpResponse<String> running = both.get();
        assertEquals(200, running.statusCode());
        assertTrue(running.body().endsWith("data: [DONE]\n\n"), "running requests finish");

        tell(gateway.engines.get(0), "/sim/health?status=503&text=overloaded");
        awaitState(0, "unhealthy");
        tell(gateway.engines.get(0), "/sim/health?status=200");
        awaitState(0, "ready");
    }

    @Test
    void a_worker_that_an_operator_drains_finishes_gets_nothing_new_and_comes_back()
            throws Exception {
        start(Map.of());
        CompletableFuture<HttpResponse<String>> both =
                CompletableFuture.supplyAsync(() -> post(ask(1, 150, true)))
                        .thenCombine(
                                CompletableFuture.supplyAsync(() -> post(ask(2, 150, true))),
                                (a, b) -> a.statusCode() == 200 ? b : a);
        await().atMost(SOON).until(() -> received(0) > 0 && received(1) > 0);
        String name = worker(0).get("name").asText();
        HttpResponse<String> drained = gateway.post("/workers/" + name + "/drain", "");
        assertEquals(202, drained.statusCode(), drained.body());
        assertEquals("drained", worker(0).get("state").asText());
        long before = received(0);
        assertAnswered(4);
        assertEquals(before, received(0));
        HttpResponse<String> running = both.get();
        assertEquals(200, running.statusCode());
        assertTrue(running.body().endsWith("data: [DONE]\n\n"), "running requests finish");

        assertEquals(202, gateway.post("/workers/" + name + "/resume", "").statusCode());
        awaitState(0, "ready");
        await().atMost(SOON)
                .until(
                        () -> {
                            assertAnswered(2);
                            return received(0) > before;
                        });
    }

    @Test
    void an_engine_that_is_far_slower_than_its_peer_is_suspended() throws Exception {
        start(
                Map.of(
                        "warmpath.health.latency-factor", "3",
                        "warmpath.health.latency-floor", "200ms",
                        "warmpath.health.latency-window", "3s",
                        "warmpath.health.latency-samples", "2",
                        "warmpath.router.mode", "round-robin"));
        tell(gateway.engines.get(0), "/sim/slow?ms=600");
        await().atMost(SOON)
                .until(
                        () -> {
                            assertAnswered(2);
                            return worker(0).get("state").asText().equals("suspended");
                        });
        assertTrue(worker(0).get("problem").asText().contains("as long as its peers'"));
        assertEquals("ready", worker(1).get("state").asText());
        tell(gateway.engines.get(0), "/sim/slow?ms=0");
    }

    @Test
    void what_others_send_to_an_engine_counts_as_its_load() throws Exception {
        start(Map.of("warmpath.health.load-interval", "400ms"));
        for (int number = 0; number < 2; number++) {
            SimEngine busy = gateway.engines.get(number);
            List<CompletableFuture<?>> others = new ArrayList<>();
            for (int i = 0; i < OTHERS; i++) {
                others.add(elsewhere(busy, i));
            }
            JsonNode[] seen = new JsonNode[1];
            int worker = number;
            await().atMost(SOON)
                    .until(
                            () -> {
                                seen[0] = worker(worker).get("engine_load");
                                return seen[0].path(0).path("outside").asInt() == OTHERS;
                            });
            assertEquals(OTHERS, seen[0].get(0).get("running").asInt(), seen[0].toString());
            assertTrue(seen[0].get(0).get("kv_blocks").asInt() > 0, seen[0].toString());
            long before = received(number);
            assertAnswered(3);
            assertEquals(before, received(number), "the other one is idle");
            others.forEach(other -> other.cancel(true));
            await().atMost(SOON)
                    .untilAsserted(
                            () ->
                                    assertEquals(
                                            0,
                                            worker(worker)
                                                    .get("engine_load")
                                                    .path(0)
                                                    .path("outside")
                                                    .asInt(0)));
        }
    }

    @Test
    void a_gateway_that_is_told_to_stop_is_not_ready_and_answers_all_the_same() throws Exception {
        start(Map.of());
        assertEquals(200, gateway.get("/ready").statusCode());
        gateway.leaving();
        HttpResponse<String> ready = gateway.get("/ready");
        assertEquals(503, ready.statusCode());
        assertTrue(ready.body().contains("stopping"), ready.body());
        assertEquals(200, gateway.get("/live").statusCode());
        assertAnswered(2);
    }

    private CompletableFuture<?> elsewhere(SimEngine engine, int number) {
        return direct.sendAsync(
                HttpRequest.newBuilder(URI.create(engine.url() + "/v1/chat/completions"))
                        .POST(HttpRequest.BodyPublishers.ofString(ask(number, 5000, true)))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> post(String json) {
        try {
            return gateway.post("/v1/chat/completions", json);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
