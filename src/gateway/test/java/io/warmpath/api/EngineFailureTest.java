package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.ROLE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.upstream.UpstreamOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines that die, refuse, stall or talk nonsense; the good one is always the second choice. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class EngineFailureTest {
    @Parameter EnginePath path;

    private static final String STREAM_HEAD =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding:"
                    + " chunked\r\n\r\n";

    private Gateway gateway;
    private StubEngine bad;
    private StubEngine good;

    @BeforeEach
    void start() throws Exception {
        gateway =
                new Gateway(
                        path,
                        GatewayOptions.defaults(),
                        Gateway.upstream(
                                Duration.ofMillis(400),
                                Duration.ofMillis(400),
                                Duration.ofMillis(400)),
                        Runnable::run);
        bad = new StubEngine(call -> call.reset());
        good =
                new StubEngine(
                        call -> {
                            call.streamHead();
                            call.chunk(ROLE);
                            call.chunk(token("good"));
                            call.chunk(DONE);
                            call.lastChunk();
                        });
        gateway.serve(bad, good);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(bad, good);
    }

    private void assertServedByGood(RawClient.Answer answer) {
        assertEquals(200, answer.status(), answer::body);
        assertEquals(ROLE + token("good") + DONE, answer.body());
        assertFalse(answer.broken());
    }

    private static JsonNode error(String json) throws IOException {
        JsonNode error = new ObjectMapper().readTree(json).path("error");
        assertTrue(error.path("message").isTextual(), json);
        assertTrue(error.path("type").isTextual(), json);
        assertTrue(error.has("param"), json);
        assertTrue(error.path("code").isTextual(), json);
        return error;
    }

    @Test
    void a_refused_connection_is_tried_elsewhere_and_reported() throws Exception {
        bad.kill();
        assertServedByGood(gateway.post(Gateway.ASK));
        assertEquals(List.of(0L), gateway.fleet.failures);
        assertEquals(1, gateway.counter("warmpath.retries", "cause", "unreachable"));
        assertEquals(2, gateway.books.booked.get());
    }

    @Test
    void a_reset_before_the_head_is_tried_elsewhere_and_reported() throws Exception {
        assertServedByGood(gateway.post(Gateway.ASK));
        assertEquals(List.of(0L), gateway.fleet.failures);
        assertEquals(1, gateway.counter("warmpath.retries", "cause", "broke"));
        assertEquals(bad.calls.get(0).bodyText(), good.calls.get(0).bodyText());
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 502, 503, 504})
    void a_workers_failure_status_is_tried_elsewhere(int status) throws Exception {
        bad.script(call -> call.json(status, "{\"error\":\"x\"}"));
        assertServedByGood(gateway.post(Gateway.ASK));
        assertEquals(List.of(), gateway.fleet.failures);
        // Its connection is fine and stays in the pool.
        assertServedByGood(gateway.post(Gateway.ASK));
        assertEquals(2, bad.requests.get());
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 404, 409, 422, 501})
    void other_errors_are_passed_on_and_not_tried_again(int status) throws Exception {
        String body = "{\"object\":\"error\",\"message\":\"as the engine says\"}";
        bad.script(
                call ->
                        call.send(
                                "HTTP/1.1 "
                                        + status
                                        + " No\r\nContent-Type: application/json\r\nRetry-After:"
                                        + " 7\r\nContent-Length: "
                                        + body.length()
                                        + "\r\n\r\n"
                                        + body));
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(status, answer.status());
        assertEquals(body, answer.body());
        assertEquals("7", answer.header("retry-after"));
        assertEquals(0, good.requests.get());
    }

    @Test
    void when_the_second_worker_fails_too_its_answer_is_passed_on() throws Exception {
        bad.script(call -> call.json(503, "{\"n\":1}"));
        good.script(call -> call.json(503, "{\"n\":2}"));
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(503, answer.status());
        assertEquals("{\"n\":2}", answer.body());
        assertEquals(1, bad.requests.get());
        assertEquals(1, good.requests.get());
    }

    /**
     * The engine's connection ends at every byte of its answer. Before the first token is whole the
     * client gets the other engine's answer and nothing of this; after it, whole events of this one
     * and an error event.
     */
    @Test
    void a_stream_cut_at_every_byte_is_repaired_or_ends_in_an_error_event() throws Exception {
        String first = ROLE + token("bad0");
        String all = first + token("bad1") + DONE;
        String http =
                STREAM_HEAD
                        + chunk(ROLE)
                        + chunk(token("bad0"))
                        + chunk(token("bad1"))
                        + chunk(DONE)
                        + "0\r\n\r\n";
        int released = (STREAM_HEAD + chunk(ROLE) + chunk(token("bad0"))).length() - 2;
        int done = http.length() - "0\r\n\r\n".length() - 2;
        for (int cut = 0; cut < http.length(); cut++) {
            String part = http.substring(0, cut);
            bad.script(
                    call -> {
                        call.send(part);
                        call.close();
                    });
            RawClient.Answer answer = gateway.post(Gateway.ASK);
            int at = cut;
            if (cut < released) {
                assertServedByGood(answer);
                continue;
            }
            assertFalse(answer.broken(), () -> "cut at " + at);
            assertTrue(answer.body().startsWith(first), () -> "cut at " + at + answer.body());
            if (cut >= done) {
                assertEquals(all, answer.body(), "cut at " + cut);
                continue;
            }
            assertFalse(answer.body().contains("[DONE]"), () -> "cut at " + at + answer.body());
            String[] events = answer.body().split("\n\n", -1);
            assertEquals("", events[events.length - 1], "ends with a blank line");
            for (int i = 0; i < events.length - 2; i++) {
                assertTrue(all.contains(events[i] + "\n\n"), events[i]);
            }
            String last = events[events.length - 2];
            assertTrue(last.startsWith("data: "), last);
            assertEquals("upstream_broke", error(last.substring(6)).path("code").asText());
        }
    }

    @Test
    void a_reset_in_mid_stream_ends_in_an_error_event_too() throws Exception {
        Semaphore received = new Semaphore(0);
        bad.script(
                call -> {
                    call.streamHead();
                    call.chunk(token("a"));
                    assertTrue(received.tryAcquire(10, TimeUnit.SECONDS));
                    call.reset();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead();
            assertEquals(token("a"), client.readChunk());
            received.release();
            String event = client.readChunk();
            JsonNode error = error(event.substring(6));
            assertEquals("upstream_error", error.path("type").asText());
            assertFalse(event.contains("127.0.0.1"), event);
            assertEquals("", client.readChunk());
        }
        await().untilAsserted(
                        () ->
                                assertEquals(
                                        1,
                                        gateway.counter(
                                                "warmpath.requests",
                                                "outcome",
                                                "broken_mid_answer")));
        assertEquals(List.of(0L), gateway.fleet.failures);
        assertEquals(0, good.requests.get());
    }

    @Test
    void a_json_answer_that_breaks_in_the_middle_breaks_the_clients_connection() throws Exception {
        Semaphore received = new Semaphore(0);
        bad.script(
                call -> {
                    call.send(
                            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:"
                                    + " 100\r\n\r\n{\"half\":");
                    assertTrue(received.tryAcquire(10, TimeUnit.SECONDS));
                    call.reset();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
            assertEquals(200, RawClient.status(client.readHead()));
            assertEquals("{\"half\":", new String(client.in.readNBytes(8), StandardCharsets.UTF_8));
            received.release();
            assertEquals(0, readToEnd(client), "nothing follows, and the connection ends");
        }
    }

    private static int readToEnd(RawClient client) {
        try {
            return client.in.readAllBytes().length;
        } catch (IOException reset) {
            return 0;
        }
    }

    @Test
    void a_keep_alive_comment_reaches_the_client_before_the_first_token() throws Exception {
        Semaphore received = new Semaphore(0);
        bad.script(
                call -> {
                    call.streamHead();
                    call.chunk(": ping\n\n");
                    assertTrue(received.tryAcquire(10, TimeUnit.SECONDS));
                    call.reset();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead();
            assertEquals(": ping\n\n", client.readChunk());
            received.release();
            assertTrue(client.readChunk().startsWith("data: {\"error\":"));
        }
        assertEquals(0, good.requests.get(), "the client has seen bytes, so nothing is repeated");
    }

    @Test
    void an_engine_that_sends_much_before_its_first_token_is_not_hoarded() throws Exception {
        Semaphore received = new Semaphore(0);
        String noise = "event: note\ndata: {\"n\":\"" + "x".repeat(1000) + "\"}\n\n";
        bad.script(
                call -> {
                    call.streamHead();
                    for (int i = 0; i < 100; i++) {
                        call.chunk(noise);
                    }
                    assertTrue(received.tryAcquire(10, TimeUnit.SECONDS));
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead();
            assertTrue(client.readChunk().startsWith(noise));
            received.release();
        }
    }

    @Test
    void a_redirect_is_not_followed_and_its_address_not_told() throws Exception {
        bad.script(
                call ->
                        call.send(
                                "HTTP/1.1 307 X\r\nLocation: "
                                        + good.url()
                                        + "\r\nContent-Length: 0\r\n\r\n"));
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(502, answer.status());
        assertNull(answer.header("location"));
        assertEquals("bad_upstream_answer", error(answer.body()).path("code").asText());
    }

    static Stream<String> nonsense() {
        String chunked = "Transfer-Encoding: chunked\r\nContent-Type: text/event-stream";
        return Stream.of(
                "ICY 200 OK\r\n\r\n",
                String.join("\r\n", "HTTP/1.1 200 OK", chunked, "", "zz", ""),
                String.join("\r\n", "HTTP/1.1 200 OK", "Content-Length: minus", "", ""));
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void nonsense_instead_of_http_is_tried_elsewhere(String nonsense) throws Exception {
        bad.script(
                call -> {
                    call.send(nonsense);
                    call.awaitGone();
                });
        assertServedByGood(gateway.post(Gateway.ASK));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_silent_worker_is_left_for_another(boolean afterHead) throws Exception {
        Semaphore gone = new Semaphore(0);
        bad.script(
                call -> {
                    if (afterHead) {
                        call.streamHead();
                    }
                    assertTrue(call.awaitGone());
                    gone.release();
                });
        assertServedByGood(gateway.post(Gateway.ASK));
        assertEquals(1, gateway.counter("warmpath.retries", "cause", "timeout"));
        assertTrue(gone.tryAcquire(10, TimeUnit.SECONDS), "the silent one works on");
    }

    @Test
    void silence_of_all_is_a_504_after_two() throws Exception {
        bad.script(call -> assertTrue(call.awaitGone()));
        good.script(call -> assertTrue(call.awaitGone()));
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(504, answer.status());
        assertEquals("upstream_timeout", error(answer.body()).path("code").asText());
        assertEquals(1, bad.requests.get());
        assertEquals(1, good.requests.get());
    }

    @Test
    void a_whole_answer_that_takes_too_long_is_a_504_and_not_repeated() throws Exception {
        bad.script(call -> assertTrue(call.awaitGone()));
        RawClient.Answer answer = gateway.post(Gateway.ASK_WHOLE);
        assertEquals(504, answer.status());
        assertEquals(0, good.requests.get(), "it would take as long there");
    }

    @Test
    void silence_in_mid_stream_ends_in_an_error_event_and_stops_the_engine() throws Exception {
        Semaphore gone = new Semaphore(0);
        bad.script(
                call -> {
                    call.streamHead();
                    call.chunk(token("a"));
                    assertTrue(call.awaitGone());
                    gone.release();
                });
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertTrue(answer.body().startsWith(token("a") + "data: {\"error\":"), answer.body());
        assertFalse(answer.broken());
        assertTrue(gone.tryAcquire(10, TimeUnit.SECONDS));
    }

    @Test
    void an_engine_that_does_not_accept_is_tried_elsewhere() throws Exception {
        // A listener whose queue is full answers no SYN: the connection neither stands nor fails.
        List<Socket> queue = new ArrayList<>();
        try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            fill(deaf, queue);
            URI url = URI.create("http://127.0.0.1:" + deaf.getLocalPort());
            gateway.fleet.workers(
                    List.of(
                            Gateway.worker(0, url, EngineKind.OPENAI, WorkerState.READY, 1),
                            Gateway.worker(
                                    1, good.url(), EngineKind.OPENAI, WorkerState.READY, 1)));
            assertServedByGood(gateway.post(Gateway.ASK));
            assertEquals(List.of(0L), gateway.fleet.failures);
        } finally {
            for (Socket s : queue) {
                s.close();
            }
        }
    }

    /** Connects until connecting hangs. */
    static void fill(ServerSocket deaf, List<Socket> queue) {
        for (int i = 0; i < 64; i++) {
            Socket s = new Socket();
            queue.add(s);
            try {
                s.connect(deaf.getLocalSocketAddress(), 200);
            } catch (IOException full) {
                return;
            }
        }
        throw new AssertionError("the listener's queue never fills here");
    }

    @Test
    void all_engines_gone_is_a_503_that_says_when_to_come_back() throws Exception {
        bad.kill();
        good.kill();
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(503, answer.status());
        assertEquals("1", answer.header("retry-after"));
        assertEquals("no_healthy_worker", error(answer.body()).path("code").asText());
        assertFalse(answer.body().contains("127.0.0.1"), answer.body());
    }

    @Test
    void an_engine_that_listens_again_a_moment_later_is_found() throws Exception {
        bad.kill();
        int port = bad.url().getPort();
        gateway.serve(bad);
        AtomicReference<StubEngine> again = new AtomicReference<>();
        gateway.fleet.onFailure =
                () -> {
                    try {
                        again.set(new StubEngine(port, call -> call.json(200, "{}")));
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                };
        assertEquals("{}", gateway.post(Gateway.ASK_WHOLE).body());
        again.get().close();
    }

    @Test
    void no_worker_at_all_and_an_unknown_model() throws Exception {
        Worker starting = Gateway.worker(0, bad.url(), EngineKind.OPENAI, WorkerState.STARTING, 1);
        gateway.fleet.workers(List.of(starting));
        RawClient.Answer none = gateway.post(Gateway.ASK);
        assertEquals(503, none.status());
        assertEquals("1", none.header("retry-after"));
        RawClient.Answer unknown = gateway.post(Gateway.ASK.replace("\"m\"", "\"other\""));
        assertEquals(404, unknown.status());
        assertEquals("model_not_found", error(unknown.body()).path("code").asText());
    }

    @Test
    void no_model_is_unknown_while_a_worker_has_not_said_what_it_serves() throws Exception {
        String other = Gateway.ASK.replace("\"m\"", "\"other\"");
        Worker known = Gateway.worker(0, bad.url(), EngineKind.OPENAI, WorkerState.READY, 1);
        Worker silent = serving(Set.of(), WorkerState.STARTING);
        gateway.fleet.workers(List.of(known, silent));
        RawClient.Answer answer = gateway.post(other);
        assertEquals(503, answer.status(), answer::body);
        assertEquals("1", answer.header("retry-after"));
        JsonNode error = error(answer.body());
        assertEquals("no_healthy_worker", error.path("code").asText());
        assertTrue(error.path("message").asText().contains("1 of 2 workers"), answer::body);
        gateway.fleet.workers(List.of());
        assertEquals(503, gateway.post(other).status(), "nobody is there yet");
        gateway.fleet.workers(List.of(known, serving(Set.of(), WorkerState.DRAINING)));
        assertEquals(404, gateway.post(other).status(), "it will not say any more");
        gateway.fleet.workers(List.of(known, serving(Set.of("x"), WorkerState.STARTING)));
        assertEquals(404, gateway.post(other).status(), "its record says it");
    }

    private static Worker serving(Set<String> models, WorkerState state) {
        Worker w = Gateway.worker(1, URI.create("http://127.0.0.1:9"), EngineKind.OPENAI, state, 1);
        return w.toBuilder().models(models).state(state).build();
    }

    @Test
    void an_unhealthy_worker_is_the_last_resort() throws Exception {
        gateway.fleet.workers(
                List.of(
                        Gateway.worker(
                                0, good.url(), EngineKind.OPENAI, WorkerState.UNHEALTHY, 1)));
        assertServedByGood(gateway.post(Gateway.ASK));
    }

    @Test
    void a_kept_connection_closed_by_the_only_engine_is_replaced_by_a_fresh_one() throws Exception {
        AtomicInteger n = new AtomicInteger();
        bad.script(
                call -> {
                    if (n.incrementAndGet() == 2) {
                        call.reset(); // as an engine that closes idle connections just now
                    } else {
                        call.json(200, "{}");
                    }
                });
        gateway.serve(bad);
        // One client connection, so one event loop and one pool.
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
            assertEquals(200, client.readAnswer().status());
            client.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
            assertEquals(200, client.readAnswer().status());
        }
        assertEquals(3, bad.requests.get());
        assertEquals(1, gateway.counter("warmpath.retries", "cause", "stale_connection"));
    }

    @Test
    void a_stale_connection_costs_neither_the_worker_nor_its_health() throws Exception {
        AtomicInteger n = new AtomicInteger();
        bad.script(
                call -> {
                    if (n.incrementAndGet() == 2) {
                        call.close();
                    } else {
                        call.json(200, "{}");
                    }
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
            client.readAnswer();
            client.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
            assertEquals("{}", client.readAnswer().body());
        }
        assertEquals(0, good.requests.get());
        assertEquals(List.of(), gateway.fleet.failures);
    }

    @Test
    void a_request_that_kills_workers_is_sent_to_two_of_them_at_most() throws Exception {
        StubEngine second = new StubEngine(call -> call.reset());
        gateway.serve(bad, second, good);
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(502, answer.status());
        assertEquals(1, bad.requests.get());
        assertEquals(1, second.requests.get());
        assertEquals(0, good.requests.get());
        second.close();
    }

    @Test
    void workers_that_refuse_do_not_count() throws Exception {
        StubEngine second = new StubEngine(call -> call.reset());
        StubEngine third = new StubEngine(call -> call.reset());
        gateway.serve(second, third, bad, good);
        second.kill();
        third.kill();
        assertServedByGood(gateway.post(Gateway.ASK));
        assertEquals(1, bad.requests.get());
        assertEquals(List.of(0L, 1L, 2L), gateway.fleet.failures);
    }

    @Test
    void a_new_connection_that_breaks_is_not_repeated_on_the_same_worker() throws Exception {
        gateway.serve(bad);
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(502, answer.status());
        assertEquals("upstream_broke", error(answer.body()).path("code").asText());
        assertEquals(1, bad.requests.get());
    }

    @Test
    void a_pinned_worker_that_fails_is_not_replaced() throws Exception {
        RawClient.Answer answer = gateway.post(Gateway.ASK, "x-worker-instance-id: 0");
        assertEquals(502, answer.status());
        assertEquals(0, good.requests.get());
    }

    @Test
    void an_event_larger_than_the_hold_back_still_arrives_whole() throws Exception {
        UpstreamOptions upstream = UpstreamOptions.defaults();
        try (Gateway small =
                new Gateway(path, Gateway.limits(1 << 20, 100, 100), upstream, Runnable::run)) {
            String big = token("x".repeat(5000));
            good.script(
                    call -> {
                        call.streamHead();
                        call.chunk(token("a"));
                        for (int i = 0; i < big.length(); i += 700) {
                            call.chunk(big.substring(i, Math.min(i + 700, big.length())));
                        }
                        call.chunk(DONE);
                        call.lastChunk();
                    });
            small.serve(good);
            assertEquals(token("a") + big + DONE, small.post(Gateway.ASK).body());
        }
    }

    private static String chunk(String text) {
        return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n";
    }
}
