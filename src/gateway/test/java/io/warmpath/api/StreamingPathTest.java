package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.CacheTraits;
import io.warmpath.fleet.EventTrust;
import io.warmpath.fleet.EventView;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.Worker;
import io.warmpath.routing.NotExact;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** What passes through when nothing goes wrong. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class StreamingPathTest {
    @Parameter EnginePath path;

    static final String ROLE =
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    static final String USAGE =
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":2,"
                    + "\"prompt_tokens_details\":{\"cached_tokens\":48}}}\n\n";
    static final String DONE = "data: [DONE]\n\n";

    static String token(String text) {
        return "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + text + "\"}}]}\n\n";
    }

    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(path);
        engine =
                new StubEngine(
                        call -> {
                            call.streamHead();
                            call.chunk(ROLE);
                            call.chunk(token("a"));
                            call.chunk(token("b"));
                            call.chunk(USAGE);
                            call.chunk(DONE);
                            call.lastChunk();
                        });
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    @Test
    void a_stream_comes_through_byte_for_byte() throws Exception {
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(200, answer.status());
        assertEquals("text/event-stream", answer.header("content-type"));
        assertEquals(ROLE + token("a") + token("b") + USAGE + DONE, answer.body());
        assertFalse(answer.broken());
        assertEquals(1, gateway.books.firstTokens.get());
    }

    @Test
    void the_engine_gets_the_clients_bytes() throws Exception {
        String odd =
                "{ \"x_unknown\" : {\"a\":[1,2.50]}, \"model\":\"m\",\t\"stream\":true ,\"seed\":7,"
                        + "\"messages\":[{\"role\":\"user\",\"content\":\"h\\u00e9 \\/ \uD83D\uDE00\"}] }";
        assertEquals(200, gateway.post(odd).status());
        assertEquals(odd, engine.calls.get(0).bodyText());
    }

    @Test
    void an_answer_that_is_not_streamed_keeps_its_length_and_bytes() throws Exception {
        String json = "{\"choices\":[{\"message\":{\"content\":\"x\"}}],\"usage\":null}";
        engine.script(call -> call.json(200, json));
        RawClient.Answer answer = gateway.post(Gateway.ASK_WHOLE);
        assertEquals(json, answer.body());
        assertEquals(Integer.toString(json.length()), answer.header("content-length"));
        assertNull(answer.header("transfer-encoding"));
    }

    @Test
    void each_chunk_is_delivered_before_the_next_one_is_sent() throws Exception {
        // A write without a flush looks fine in bursts and stands still when paced: here the engine
        // sends nothing more until the client has what was sent.
        Semaphore received = new Semaphore(0);
        int tokens = 20;
        engine.script(
                call -> {
                    call.streamHead();
                    for (int i = 0; i < tokens; i++) {
                        call.chunk(token("t" + i));
                        assertTrue(received.tryAcquire(10, TimeUnit.SECONDS), "token " + i);
                    }
                    call.chunk(DONE);
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            assertEquals(200, RawClient.status(client.readHead()));
            for (int i = 0; i < tokens; i++) {
                assertEquals(token("t" + i), client.readChunk());
                received.release();
            }
            assertEquals(DONE, client.readChunk());
            assertEquals("", client.readChunk());
        }
    }

    @Test
    void chunks_that_arrive_together_leave_together() throws Exception {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 30; i++) {
            String event = token("t" + i);
            all.append(Integer.toHexString(event.length())).append("\r\n");
            all.append(event).append("\r\n");
        }
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(token("first")); // releases the answer
                    call.send(all.toString()); // one segment on loopback
                    call.lastChunk();
                });
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertTrue(answer.body().endsWith(token("t29")));
        assertTrue(
                answer.chunks().size() <= 6,
                () -> answer.chunks().size() + " chunks for 31 events");
    }

    @Test
    void engine_connections_are_used_again() throws Exception {
        for (int i = 0; i < 5; i++) {
            try (RawClient client = new RawClient(gateway.port)) {
                client.sendPost(Gateway.CHAT, Gateway.ASK);
                client.readAnswer();
                client.sendPost(Gateway.CHAT, Gateway.ASK);
                client.readAnswer();
            }
        }
        assertEquals(10, engine.requests.get());
        // Clients are spread over two event loops, and each loop has its own connections.
        assertTrue(engine.connections.get() <= 2, () -> engine.connections + " connections");
    }

    @Test
    void the_second_first_token_on_a_kept_connection_comes_at_once() throws Exception {
        // Without TCP_NODELAY it waits some 40 ms for a delayed acknowledgement. A busy machine can
        // be slow once; Nagle is slow every time.
        Semaphore received = new Semaphore(0);
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(token("a"));
                    assertTrue(received.tryAcquire(10, TimeUnit.SECONDS));
                    call.chunk(DONE);
                    call.lastChunk();
                });
        long best = Long.MAX_VALUE;
        for (int round = 0; round < 10 && best >= 10_000_000; round++) {
            try (RawClient client = new RawClient(gateway.port)) {
                received.release();
                client.sendPost(Gateway.CHAT, Gateway.ASK);
                client.readAnswer();
                long begin = System.nanoTime();
                client.sendPost(Gateway.CHAT, Gateway.ASK);
                client.readHead();
                client.readChunk();
                best = Math.min(best, System.nanoTime() - begin);
                received.release();
            }
        }
        long nanos = best;
        assertTrue(nanos < 10_000_000, () -> "second first token after " + nanos + " ns");
    }

    @Test
    void prediction_and_report_are_compared() throws Exception {
        gateway.post(Gateway.ASK);
        await().untilAsserted(
                        () ->
                                assertEquals(
                                        1,
                                        gateway.counter(
                                                "warmpath.predictions", "result", "equal")));
        assertEquals(48, gateway.meters.get("warmpath.cached.tokens.reported").counter().count());
        assertEquals(48, gateway.meters.get("warmpath.cached.tokens.predicted").counter().count());
        assertEquals(1, gateway.counter("warmpath.requests", "outcome", "ok"));
    }

    @Test
    void the_decision_is_explained_on_request_only() throws Exception {
        RawClient.Answer plain = gateway.post(Gateway.ASK);
        assertNull(plain.header("x-warmpath-worker"));
        assertNotNull(plain.header("x-request-id"));
        RawClient.Answer told = gateway.post(Gateway.ASK, "x-warmpath-explain: 1");
        assertEquals("w0", told.header("x-warmpath-worker"));
        assertEquals("kv", told.header("x-warmpath-mode"));
        assertEquals("40", told.header("x-warmpath-prompt-tokens"));
        assertEquals("48", told.header("x-warmpath-predicted-cached-tokens"));
        assertEquals("gpu=2;host=1;disk=0;external=0", told.header("x-warmpath-matched-blocks"));
        assertEquals("3.500", told.header("x-warmpath-cost"));
        assertEquals("lowest cost 3.5 of 1", told.header("x-warmpath-reason"));
        assertNull(engine.calls.get(1).header("x-warmpath-explain"), "our header stays here");
        String two = Gateway.ASK.replaceFirst("\\{", "{\"n\":2,");
        RawClient.Answer several = gateway.post(two, "x-warmpath-explain: 1");
        assertNull(several.header("x-warmpath-predicted-cached-tokens"));
        assertEquals("several answers", several.header("x-warmpath-not-predicted"));
    }

    @Test
    void what_is_not_predicted_says_why() throws Exception {
        String hidden = Gateway.ASK.replaceFirst("\\{", "{\"suffix\":\"x\",");
        assertEquals(NotExact.PROMPT_HIDDEN.words(), whyNot(hidden));
        Worker plain = gateway.fleet.now.workers().getFirst();
        gateway.fleet.workers(
                List.of(plain.toBuilder().cache(new CacheTraits(false, true, false)).build()));
        double compared = compared();
        assertEquals(NotExact.PARTLY_TOLD.words(), whyNot(Gateway.ASK));
        assertEquals(compared, compared(), "nothing is compared with what the engine reports");
        gateway.fleet.workers(
                List.of(plain.toBuilder().cache(new CacheTraits(false, false, true)).build()));
        gateway.events = rank -> EventTrust.believed(EventView.EXACT);
        RawClient.Answer guess = gateway.post(Gateway.ASK, "x-warmpath-explain: 1");
        gateway.events = EventWatch.OFF;
        assertEquals(NotExact.DRAFTS.words(), guess.header("x-warmpath-not-exact"));
        assertNotNull(guess.header("x-warmpath-predicted-cached-tokens"));
        await().until(() -> compared() == compared + 1);
        gateway.fleet.workers(List.of(plain));
        assertNull(whyNot(Gateway.ASK));
        await().until(() -> compared() > compared + 1);
        assertEquals(compared + 2, compared());
    }

    private @Nullable String whyNot(String request) throws Exception {
        return gateway.post(request, "x-warmpath-explain: 1").header("x-warmpath-not-predicted");
    }

    private double compared() {
        return gateway.counter("warmpath.predictions", "result", "equal");
    }

    @Test
    void a_sane_request_id_is_kept_and_another_replaced() throws Exception {
        assertEquals(
                "abc-1", gateway.post(Gateway.ASK, "X-Request-Id: abc-1").header("x-request-id"));
        assertEquals("abc-1", engine.calls.get(0).header("x-request-id"));
        String made = gateway.post(Gateway.ASK, "X-Request-Id: a\"b").header("x-request-id");
        assertTrue(made.matches("req-[0-9a-f]{32}"), made);
        assertEquals(made, engine.calls.get(1).header("x-request-id"));
    }

    @Test
    void hop_by_hop_headers_are_not_passed_on_either_way() throws Exception {
        engine.script(
                call ->
                        call.send(
                                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection:"
                                        + " keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive:"
                                        + " timeout=5\r\nProxy-Authenticate: Basic\r\nX-Keep: 2\r\n"
                                        + "Content-Length: 2\r\n\r\n{}"));
        RawClient.Answer answer =
                gateway.post(
                        Gateway.ASK_WHOLE,
                        "Connection: keep-alive, X-Mine",
                        "X-Mine: secret",
                        "TE: trailers",
                        "Upgrade: h2c",
                        "Proxy-Authorization: Basic x",
                        "Accept-Encoding: gzip",
                        "Authorization: Bearer key",
                        "X-Other: yes");
        assertEquals("2", answer.header("x-keep"));
        assertNull(answer.header("x-hop"));
        assertNull(answer.header("keep-alive"));
        assertNull(answer.header("proxy-authenticate"));
        StubEngine.Call call = engine.calls.get(0);
        for (String gone :
                new String[] {
                    "x-mine", "te", "upgrade", "proxy-authorization", "accept-encoding"
                }) {
            assertNull(call.header(gone), gone);
        }
        assertEquals("Bearer key", call.header("authorization"));
        assertEquals("yes", call.header("x-other"));
        assertEquals(engine.url().getAuthority(), call.header("host"));
    }

    @Test
    void a_slow_reader_slows_the_engine_down_and_loses_nothing() throws Exception {
        int events = 4000;
        String filler = "x".repeat(4000);
        Semaphore blocked = new Semaphore(0);
        engine.script(
                call -> {
                    call.streamHead();
                    for (int i = 0; i < events; i++) {
                        call.chunk(token(i + filler));
                        if (i == 100) {
                            blocked.release();
                        }
                    }
                    blocked.release();
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead();
            assertTrue(blocked.tryAcquire(10, TimeUnit.SECONDS));
            // 16 MB do not fit into the sockets: unless the gateway hoards, the engine stands
            // still.
            assertFalse(blocked.tryAcquire(500, TimeUnit.MILLISECONDS), "the gateway hoards");
            StringBuilder body = new StringBuilder();
            for (String c = client.readChunk(); !c.isEmpty(); c = client.readChunk()) {
                body.append(c);
            }
            StringBuilder expected = new StringBuilder();
            for (int i = 0; i < events; i++) {
                expected.append(token(i + filler));
            }
            assertEquals(expected.toString(), body.toString());
        }
    }

    @Test
    void an_http_1_0_client_gets_the_stream_up_to_the_close() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(
                    "POST /v1/chat/completions HTTP/1.0\r\nContent-Length: "
                            + Gateway.ASK.length()
                            + "\r\n\r\n"
                            + Gateway.ASK);
            RawClient.Answer answer = client.readAnswer();
            assertNull(answer.header("transfer-encoding"));
            assertEquals(ROLE + token("a") + token("b") + USAGE + DONE, answer.body());
        }
    }

    @Test
    void query_and_base_path_reach_the_engine() throws Exception {
        RawClient.post(gateway.port, Gateway.CHAT + "?a=1", Gateway.ASK);
        assertTrue(
                engine.calls.get(0).head.startsWith("POST /v1/chat/completions?a=1 HTTP/1.1\r\n"),
                engine.calls.get(0).head);
    }
}
