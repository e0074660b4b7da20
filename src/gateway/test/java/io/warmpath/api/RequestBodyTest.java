package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Gauge;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.upstream.UpstreamOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How requests arrive: sizes, framing, continuation, pipelining, wrong methods and paths. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class RequestBodyTest {
    @Parameter EnginePath path;

    private static final int LIMIT = 200_000;

    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway =
                new Gateway(
                        path,
                        Gateway.limits(LIMIT, 1 << 16, 1 << 16),
                        UpstreamOptions.defaults(),
                        Runnable::run);
        engine = new StubEngine(call -> call.json(200, "{\"n\":" + call.body.length + "}"));
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    private static String ofSize(int size) {
        String start = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"";
        String end = "\"}]}";
        return start + "x".repeat(size - start.length() - end.length()) + end;
    }

    @Test
    void a_body_of_exactly_the_limit_passes_and_one_byte_more_does_not() throws Exception {
        assertEquals("{\"n\":200000}", gateway.post(ofSize(LIMIT)).body());
        RawClient.Answer tooLarge = gateway.post(ofSize(LIMIT + 1));
        assertEquals(413, tooLarge.status());
        assertTrue(tooLarge.body().contains("\"code\":\"request_too_large\""), tooLarge.body());
        assertEquals(1, engine.requests.get());
    }

    @Test
    void a_length_above_the_limit_is_refused_before_the_body_comes() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n");
            client.send("Content-Length: 999999999999\r\n\r\n");
            assertEquals(413, client.readAnswer().status());
        }
    }

    @Test
    void a_chunked_body_is_refused_as_soon_as_it_exceeds_the_limit() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n");
            client.send("Transfer-Encoding: chunked\r\n\r\n");
            String chunk = "2710\r\n" + "x".repeat(10_000) + "\r\n";
            for (int i = 0; i < 21; i++) {
                client.send(chunk);
            }
            assertEquals(413, client.readAnswer().status());
            // The client goes on sending; the gateway reads for a while, then closes.
            assertEquals(true, isClosedSoon(client, chunk));
        }
    }

    private static boolean isClosedSoon(RawClient client, String chunk) {
        long end = System.nanoTime() + 10_000_000_000L;
        try {
            while (System.nanoTime() < end) {
                client.send(chunk);
            }
            return false;
        } catch (IOException closed) {
            return true;
        }
    }

    /** Two lanes that hold what they are given until they are told. */
    private static final class HeldLanes implements Executor, TokenLanes {
        final BlockingQueue<Runnable> brief = new LinkedBlockingQueue<>();
        final BlockingQueue<Runnable> lengthy = new LinkedBlockingQueue<>();
        volatile boolean full;

        @Override
        public void brief(Runnable work) {
            add(brief, work);
        }

        @Override
        public void lengthy(Runnable work) {
            add(lengthy, work);
        }

        private void add(BlockingQueue<Runnable> lane, Runnable work) {
            if (full) {
                throw new RejectedExecutionException();
            }
            lane.add(work);
        }

        @Override
        public void execute(Runnable work) {
            throw new UnsupportedOperationException();
        }

        static void runNext(BlockingQueue<Runnable> lane) throws InterruptedException {
            Objects.requireNonNull(lane.poll(10, TimeUnit.SECONDS), "nothing came").run();
        }
    }

    private HeldLanes holdLanes() throws Exception {
        gateway.close();
        HeldLanes lanes = new HeldLanes();
        gateway =
                new Gateway(
                        path,
                        Gateway.limits(3 << 20, 1 << 16, 1 << 16),
                        UpstreamOptions.defaults(),
                        lanes);
        gateway.serve(engine);
        return lanes;
    }

    @Test
    void a_long_body_is_read_by_other_threads_and_no_short_one_waits_for_it() throws Exception {
        HeldLanes lanes = holdLanes();
        int longer = 70_000;
        int longest = 2_000_000;
        try (RawClient one = new RawClient(gateway.port);
                RawClient two = new RawClient(gateway.port)) {
            one.send(post(ofSize(longer)));
            two.send(post(ofSize(longest)));
            assertEquals("{\"n\":60000}", gateway.post(ofSize(60_000)).body(), "read at once");
            HeldLanes.runNext(lanes.brief);
            assertEquals("{\"n\":" + longer + "}", one.readAnswer().body());
            HeldLanes.runNext(lanes.lengthy);
            assertEquals("{\"n\":" + longest + "}", two.readAnswer().body());
            lanes.full = true;
            assertEquals(
                    "{\"n\":" + longer + "}", gateway.post(ofSize(longer)).body(), "here then");
        }
    }

    @Test
    void a_long_body_that_is_wrong_is_refused_as_a_short_one_is() throws Exception {
        HeldLanes lanes = holdLanes();
        String wrong = ofSize(100_000).replace("\"messages\":[", "\"messages\":[7,");
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(post(wrong));
            HeldLanes.runNext(lanes.brief);
            RawClient.Answer refused = client.readAnswer();
            assertEquals(400, refused.status());
            lanes.full = true;
            assertEquals(gateway.post(wrong).status(), refused.status());
            assertTrue(refused.body().contains("messages[0]"), refused.body());
            client.send(post(ofSize(1_000)));
            assertEquals("{\"n\":1000}", client.readAnswer().body(), "it goes on");
        }
    }

    @Test
    void a_client_that_leaves_while_its_body_is_read_starts_nothing() throws Exception {
        HeldLanes lanes = holdLanes();
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(post(ofSize(100_000)));
            await().until(() -> !lanes.brief.isEmpty());
        }
        await().until(() -> gateway.connections.get() == 0);
        HeldLanes.runNext(lanes.brief);
        assertEquals("{\"n\":500}", gateway.post(ofSize(500)).body());
        assertEquals(1, engine.requests.get());
    }

    private static String post(String body) {
        return "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: "
                + body.length()
                + "\r\n\r\n"
                + body;
    }

    @Test
    void a_chunked_body_reaches_the_engine_with_its_length() throws Exception {
        String json = ofSize(3000);
        try (RawClient client = new RawClient(gateway.port)) {
            client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n");
            client.send("Transfer-Encoding: chunked\r\n\r\n");
            for (int i = 0; i < 3; i++) {
                client.send("3e8\r\n" + json.substring(i * 1000, i * 1000 + 1000) + "\r\n");
            }
            client.send("0\r\n\r\n");
            assertEquals("{\"n\":3000}", client.readAnswer().body());
        }
        assertEquals(json, engine.calls.get(0).bodyText());
        assertEquals("3000", engine.calls.get(0).header("content-length"));
        assertEquals(null, engine.calls.get(0).header("transfer-encoding"));
    }

    /** What a client that has sent half of its body takes is missing to the next one. */
    @Test
    void bodies_take_no_more_memory_together_than_they_may() throws Exception {
        gateway.close();
        ClientBounds bounds = new ClientBounds(Duration.ZERO, Duration.ZERO, Duration.ZERO, 20_000);
        gateway =
                new Gateway(
                        path,
                        Gateway.limits(100_000, 100, 100).with(bounds),
                        UpstreamOptions.defaults(),
                        Runnable::run);
        gateway.serve(engine);
        String large = Gateway.ASK.replace("hi", "x".repeat(12_000));
        Gauge held = gateway.meters.get("warmpath.request.body.bytes").gauge();
        try (RawClient half = new RawClient(gateway.port)) {
            half.send(
                    "POST "
                            + Gateway.CHAT
                            + " HTTP/1.1\r\nHost: gateway\r\nContent-Length: "
                            + large.length()
                            + "\r\n\r\n"
                            + large.substring(0, 11_000));
            await().untilAsserted(() -> assertEquals(11_000, held.value()));
            RawClient.Answer refused = gateway.post(large);
            assertEquals(503, refused.status(), refused::body);
            assertEquals("1", refused.header("retry-after"));
            assertTrue(refused.body().contains("\"code\":\"overloaded\""), refused.body());
            assertEquals(200, gateway.post(Gateway.ASK).status());
            half.send(large.substring(11_000));
            assertEquals(200, half.readAnswer().status());
        }
        await().untilAsserted(() -> assertEquals(0, held.value()));
        assertEquals(200, gateway.post(large).status());
        assertEquals(1, gateway.counter("warmpath.requests", "outcome", "overloaded"));
        assertEquals(1, gateway.counter("warmpath.overload.rejections", "cause", "memory"));
        try (RawClient leaves = new RawClient(gateway.port)) {
            leaves.send(
                    "POST "
                            + Gateway.CHAT
                            + " HTTP/1.1\r\nHost: gateway\r\nContent-Length: 9000\r\n\r\n{");
            await().untilAsserted(() -> assertEquals(1, held.value()));
        }
        await().untilAsserted(() -> assertEquals(0, held.value()));
    }

    @Test
    void expect_100_continue_is_answered_here() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(
                    "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n");
            client.send("Content-Length: " + Gateway.ASK_WHOLE.length() + "\r\n\r\n");
            assertEquals(100, RawClient.status(client.readHead()));
            client.send(Gateway.ASK_WHOLE);
            assertEquals(200, client.readAnswer().status());
        }
        assertEquals(null, engine.calls.get(0).header("expect"));
    }

    @Test
    void expect_100_continue_with_too_large_a_length_is_refused_at_once() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(
                    "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n");
            client.send("Content-Length: " + (LIMIT + 1) + "\r\n\r\n");
            assertEquals(413, client.readAnswer().status());
        }
    }

    /** Whatever is made of it, a second request must not come out of the first one's body. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 5\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding: chunked\r\nContent-Length: 5",
                "Content-Length: 5\r\nContent-Length: 6",
                "Content-Length: 5, 6",
                "Content-Length: +5",
                "Content-Length: -5",
                "Transfer-Encoding: identity, chunked, identity",
                "Transfer-Encoding : chunked",
            })
    void two_readings_of_the_length_smuggle_nothing(String headers) throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n" + headers);
            client.send("\r\n\r\n0\r\n\r\nGET /live HTTP/1.1\r\nHost: a\r\n\r\n");
            int first = RawClient.status(client.readHead());
            assertTrue(first >= 400, () -> headers + ": " + first);
        }
        assertEquals(0, engine.requests.get(), headers);
    }

    @Test
    void pipelined_requests_are_answered_in_order() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            String one = ofSize(100);
            String two = ofSize(101);
            StringBuilder both = new StringBuilder();
            for (String json : new String[] {one, two}) {
                both.append("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: ");
                both.append(json.length()).append("\r\n\r\n").append(json);
            }
            client.send(both.toString());
            assertEquals("{\"n\":100}", client.readAnswer().body());
            assertEquals("{\"n\":101}", client.readAnswer().body());
        }
    }

    @Test
    void a_refused_body_leaves_the_connection_usable() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, "{\"model\":");
            assertEquals(400, client.readAnswer().status());
            client.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
            assertEquals(200, client.readAnswer().status());
        }
    }

    @Test
    void wrong_methods_and_paths_get_shaped_errors() throws Exception {
        RawClient.Answer method = RawClient.request(gateway.port, "GET", Gateway.CHAT);
        assertEquals(405, method.status());
        assertEquals("POST", method.header("allow"));
        assertTrue(method.body().contains("\"code\":\"method_not_allowed\""), method.body());
        for (String path :
                new String[] {"/v1/nothing", "/no-such-path", "/v1/chat/completions/x"}) {
            RawClient.Answer unknown = RawClient.request(gateway.port, "GET", path);
            assertEquals(404, unknown.status(), path);
            assertTrue(unknown.body().contains("\"code\":\"unknown_url\""), unknown.body());
            assertTrue(unknown.header("x-request-id") != null, path);
        }
        RawClient.Answer posted = RawClient.post(gateway.port, "/v1/nothing", ofSize(5000));
        assertEquals(404, posted.status());
        assertEquals(405, RawClient.post(gateway.port, "/v1/models", "{}").status());
    }

    @Test
    void a_cold_gateway_is_alive_and_healthy_and_not_ready() throws Exception {
        gateway.warm = false;
        RawClient.Answer cold = RawClient.request(gateway.port, "GET", "/ready");
        assertEquals(503, cold.status());
        assertEquals("{\"status\":\"warming up\"}", cold.body());
        assertEquals(200, RawClient.request(gateway.port, "GET", "/live").status());
        assertEquals(200, RawClient.request(gateway.port, "GET", "/health").status());
        gateway.warm = true;
        assertEquals(200, RawClient.request(gateway.port, "GET", "/ready").status());
    }

    @Test
    void models_and_health_follow_the_fleet_and_name_no_address() throws Exception {
        RawClient.Answer models = RawClient.request(gateway.port, "GET", "/v1/models");
        assertEquals(
                "{\"object\":\"list\",\"data\":[{\"id\":\"m\",\"object\":\"model\",\"created\":0,"
                        + "\"owned_by\":\"warmpath\"}]}",
                models.body());
        RawClient.Answer health = RawClient.request(gateway.port, "GET", "/health");
        assertEquals(200, health.status());
        assertEquals(
                "{\"status\":\"healthy\",\"workers\":{\"ready\":1,\"total\":1},\"models\":1,\"memory\":\"free\"}",
                health.body());
        assertEquals(200, RawClient.request(gateway.port, "HEAD", "/ready").status());
        gateway.fleet.workers(java.util.List.of());
        assertEquals(503, RawClient.request(gateway.port, "GET", "/health").status());
        gateway.fleet.problems = Map.of("w0", "connection refused");
        RawClient.Answer waiting = RawClient.request(gateway.port, "GET", "/ready");
        assertEquals(503, waiting.status());
        assertEquals(
                "{\"status\":\"waiting for a worker\",\"workers\":{\"w0\":\"connection refused\"}}",
                waiting.body());
        assertEquals(200, RawClient.request(gateway.port, "GET", "/live").status());
        RawClient.Answer none = RawClient.request(gateway.port, "GET", "/v1/models");
        assertEquals("{\"object\":\"list\",\"data\":[]}", none.body());
        assertFalse(health.body().contains("127.0.0.1"));
    }
}
