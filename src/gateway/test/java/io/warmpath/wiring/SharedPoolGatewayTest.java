package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.warmpath.adapter.mooncake.RealMaster;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.SimPool;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.cache.SglangPageHasher;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The whole gateway before engines that share a pool: what it asks over HTTP, what it decides by
 * it, and that nobody waits for a pool that does not answer.
 */
@Timeout(120)
@Tag("slow")
class SharedPoolGatewayTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int BLOCKS = 16;

    private static Map<String, String> settings(String... more) {
        Map<String, String> all = new HashMap<>();
        all.put("warmpath.shared-cache.type", "hicache");
        all.put("warmpath.shared-cache.multiplier", "0.5");
        // Long, so that a busy machine does not decide.
        all.put("warmpath.shared-cache.deadline", "1s");
        all.put("warmpath.shared-cache.timeout", "10s");
        all.put("warmpath.shared-cache.missing-ttl", "0ms");
        for (int i = 0; i < more.length; i += 2) {
            all.put(more[i], more[i + 1]);
        }
        return all;
    }

    private static SimOptions.Builder engine(SimPool pool) {
        return SimOptions.builder().hostBlocks(512).pool(pool).prefillTokensPerSecond(1e6);
    }

    private static SimPool pool() throws Exception {
        return SimPool.start("127.0.0.1", 0, "demo", 10_000, 1e6);
    }

    /** Token ids of so many blocks; other {@code first}, other blocks. */
    private static String ids(int first, int blocks) {
        return IntStream.range(0, blocks * 16)
                .mapToObj(i -> String.valueOf(first + i))
                .collect(Collectors.joining(",", "[", "]"));
    }

    private static JsonNode explain(SimGateway gateway, String ids, double multiplier)
            throws Exception {
        HttpResponse<String> answer =
                gateway.post(
                        "/router/explain",
                        "{\"token_ids\":"
                                + ids
                                + ",\"router_config_override\":{\"shared_cache_multiplier\":"
                                + multiplier
                                + "}}");
        assertEquals(200, answer.statusCode(), answer.body());
        JsonNode said = JSON.readTree(answer.body());
        return said.has("decision") ? said.path("decision") : said;
    }

    private static JsonNode candidate(JsonNode decision, int worker) {
        for (JsonNode c : decision.path("candidates")) {
            if (c.toString().contains("\"w" + worker)) {
                return c;
            }
        }
        throw new AssertionError("no w" + worker + " in " + decision);
    }

    private static String header(HttpResponse<?> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    private static double predictions(SimGateway gateway, String result) {
        return gateway.meters.get("warmpath.predictions").tag("result", result).counter().count();
    }

    private static double cost(JsonNode decision, int worker) {
        return candidate(decision, worker).path("cost").asDouble();
    }

    private static double term(JsonNode decision, int worker, String name) {
        return candidate(decision, worker).path("terms").path(name).asDouble();
    }

    private static HttpResponse<String> generate(SimGateway gateway, String ids, String worker)
            throws Exception {
        HttpResponse<String> answer =
                gateway.post(
                        "/router/generate",
                        "{\"token_ids\":"
                                + ids
                                + (worker.isEmpty() ? "" : ",\"worker_id\":" + worker)
                                + ",\"stop_conditions\":{\"max_tokens\":2}}",
                        "x-warmpath-explain",
                        "1");
        assertEquals(200, answer.statusCode(), answer.body());
        return answer;
    }

    private static String id(SimGateway gateway, int worker) throws Exception {
        return JSON.readTree(gateway.get("/workers/w" + worker).body()).path("id").asText();
    }

    /**
     * One worker holds all 16 blocks and has 6 more booked; the others hold nothing. In blocks, as
     * prefill and decode: 6 + (6 + 16) = 28 there, 16 * (1 - multiplier) + 16 elsewhere.
     */
    @Test
    void the_decision_changes_where_the_pools_worth_says_so() throws Exception {
        try (SimPool pool = pool()) {
            SimGateway gateway = SimGateway.start(settings(), engine(pool), engine(pool));
            try {
                String prompt = ids(1000, BLOCKS);
                generate(gateway, prompt, id(gateway, 0));
                await().until(() -> pool.pages() >= BLOCKS);
                await().until(() -> term(explain(gateway, prompt, 0), 0, "gpu_blocks") == BLOCKS);
                HttpResponse<String> reserved =
                        gateway.post(
                                "/router/reservations",
                                "{\"token_ids\":"
                                        + ids(50_000, 6)
                                        + ",\"worker_id\":"
                                        + id(gateway, 0)
                                        + ",\"reservation_id\":\"r\"}");
                assertEquals(201, reserved.statusCode(), reserved.body());
                JsonNode ignored = explain(gateway, prompt, 0);
                assertEquals(List.of(28.0, 32.0), List.of(cost(ignored, 0), cost(ignored, 1)));
                assertTrue(ignored.path("chosen").toString().contains("\"w0"), ignored.toString());
                JsonNode half = explain(gateway, prompt, 0.5);
                assertEquals(List.of(28.0, 24.0), List.of(cost(half, 0), cost(half, 1)));
                assertTrue(half.path("chosen").toString().contains("\"w1"), half.toString());
                assertEquals(BLOCKS, term(half, 1, "shared_blocks"));
                assertEquals(0, term(half, 0, "shared_blocks"), "it holds them itself");
                assertEquals(BLOCKS, half.path("chosen").path("shared_blocks").asInt());
                JsonNode told = half.path("shared_cache").path(0);
                assertEquals("in_time", told.path("answer").asText(), half.toString());
                assertEquals("[0,16]", told.path("ranges").toString());
                assertEquals(16.0, cost(explain(gateway, prompt, 1), 1));
                // And so it comes: the engine fetches all but the block that is always computed.
                HttpResponse<String> answer = generate(gateway, prompt, "");
                assertTrue(answer.body().contains("\"cached_tokens\":240"), answer.body());
                assertEquals("240", header(answer, "x-warmpath-predicted-cached-tokens"));
                assertEquals(
                        "gpu=0;host=0;disk=0;external=16",
                        header(answer, "x-warmpath-matched-blocks"));
                assertEquals(240, half.path("chosen").path("cached_tokens").asInt());
                assertEquals(BLOCKS, half.path("chosen").path("external_blocks").asInt());
                assertEquals(BLOCKS, term(half, 1, "external_blocks"));
                await().untilAsserted(() -> assertEquals(2, predictions(gateway, "equal")));
                assertEquals(0, predictions(gateway, "over") + predictions(gateway, "under"));
                assertEquals(1, gateway.meters.get("router.shared.cache.hit.rate").summary().max());
                assertEquals(
                        BLOCKS,
                        gateway.meters.get("router.shared.cache.beyond.blocks").summary().max());
            } finally {
                gateway.delete("/router/reservations/r");
                gateway.close();
            }
        }
    }

    /** What engines write, put into a real master under the names that they give it. */
    @Test
    void a_real_master_is_asked_by_the_keys_that_engines_write(@TempDir Path logs)
            throws Exception {
        try (RealMaster master = RealMaster.start(logs, 64 << 20);
                SimPool pool = pool()) {
            SimGateway gateway =
                    SimGateway.start(
                            settings(
                                    "warmpath.shared-cache.masters",
                                    master.url().toString(),
                                    "warmpath.shared-cache.held-ttl",
                                    "0ms"),
                            engine(pool),
                            engine(pool));
            try {
                String prompt = ids(1000, BLOCKS);
                JsonNode nothing = explain(gateway, prompt, 0.5);
                assertEquals("in_time", answer(nothing), nothing.toString());
                assertEquals(32.0, cost(nothing, 0));
                List<String> keys = keys(1000, BLOCKS);
                master.put(keys, 4096);
                JsonNode all = explain(gateway, prompt, 0.5);
                assertEquals("in_time", answer(all), all.toString());
                assertEquals(BLOCKS, term(all, 0, "shared_blocks"));
                assertEquals(List.of(24.0, 24.0), List.of(cost(all, 0), cost(all, 1)));
                // Half of a page is no page: the run ends before it.
                master.remove(List.of(keys.get(2 * 8 + 1)));
                JsonNode part = explain(gateway, prompt, 0.5);
                assertEquals(8, term(part, 0, "shared_blocks"), part.toString());
                assertEquals(28.0, cost(part, 1));
            } finally {
                gateway.close();
            }
        }
    }

    private static String answer(JsonNode decision) {
        return decision.path("shared_cache").path(0).path("answer").asText();
    }

    /** Two for each page of a prompt, by the simulated engine's own hashing. */
    private static List<String> keys(int first, int blocks) {
        List<String> keys = new ArrayList<>();
        byte[] digest = null;
        for (int b = 0; b < blocks; b++) {
            int from = first + 16 * b;
            int[] page = IntStream.range(from, from + 16).toArray();
            digest = new SglangPageHasher().digest(digest, page, CacheSpace.NONE);
            String name = "demo_" + HexFormat.of().formatHex(digest);
            keys.add(name + "_0_k");
            keys.add(name + "_0_v");
        }
        return keys;
    }

    @Test
    void a_master_that_is_down_is_told_once_and_costs_nobody_anything() throws Exception {
        Logs logs = new Logs(SharedCache.class);
        try (SimPool pool = pool()) {
            SimGateway gateway =
                    SimGateway.start(
                            settings("warmpath.shared-cache.masters", "http://127.0.0.1:9"),
                            engine(pool),
                            engine(pool));
            try {
                for (int i = 0; i < 8; i++) {
                    generate(gateway, ids(1000 + 1000 * i, 4), "");
                }
                List<String> failures =
                        logs.at(Level.WARNING).stream()
                                .filter(w -> w.startsWith("Shared cache query failed"))
                                .toList();
                assertEquals(1, failures.size(), failures.toString());
                JsonNode told = explain(gateway, ids(1000, 4), 0.5).path("shared_cache").path(0);
                assertEquals("failed", told.path("answer").asText());
                assertFalse(told.path("error").asText().isEmpty());
            } finally {
                gateway.close();
            }
        } finally {
            logs.close();
        }
    }

    /**
     * Half of the workers' pool answers after a second; nobody waits for more than the deadline.
     */
    @Test
    void a_master_that_answers_after_a_second_delays_nobody_by_more_than_the_deadline()
            throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        HttpServer slow =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        slow.setExecutor(threads);
        slow.createContext(
                "/",
                exchange -> {
                    try {
                        if (end.await(1, TimeUnit.SECONDS)) {
                            exchange.close();
                            return;
                        }
                        byte[] answer =
                                switch (exchange.getRequestURI().getPath()) {
                                    case "/role" -> "leader".getBytes(StandardCharsets.UTF_8);
                                    default ->
                                            "{\"success\":true,\"data\":{}}"
                                                    .getBytes(StandardCharsets.UTF_8);
                                };
                        exchange.sendResponseHeaders(200, answer.length);
                        exchange.getResponseBody().write(answer);
                        exchange.close();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
        slow.start();
        try (SimPool pool = pool()) {
            SimGateway gateway =
                    SimGateway.start(
                            settings(
                                    "warmpath.shared-cache.masters",
                                    "http://127.0.0.1:" + slow.getAddress().getPort(),
                                    "warmpath.shared-cache.deadline",
                                    "5ms"),
                            engine(pool),
                            engine(pool));
            try {
                explain(gateway, ids(1, 2), 0); // warm
                List<Long> took = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    String prompt = ids(1000 + 100 * i, 4);
                    long begin = System.nanoTime();
                    JsonNode decision = explain(gateway, prompt, 0.5);
                    took.add(System.nanoTime() - begin);
                    String said = decision.path("shared_cache").path(0).path("answer").asText();
                    assertTrue(said.equals("late") || said.equals("failed"), decision.toString());
                }
                took.sort(null);
                System.out.printf(
                        "a master that answers after 1 s: p50 %.1f ms, p99 %.1f ms%n",
                        took.get(50) / 1e6, took.get(99) / 1e6);
                assertTrue(took.get(99) < 500_000_000L, "of " + took);
                generate(gateway, ids(7, 3), "");
            } finally {
                gateway.close();
            }
        } finally {
            end.countDown();
            slow.stop(0);
            threads.close();
        }
    }
}
