package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.PooledByteBufAllocator;
import io.vertx.core.buffer.impl.VertxByteBufAllocator;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.upstream.UpstreamOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the raw path makes of engines' HTTP, good and bad; connections, and memory. */
@ExtendWith(Leaks.class)
class EngineFramingTest {
    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.RAW);
        engine = new StubEngine(call -> call.json(200, "{}"));
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    private void badGateway(String answer) throws Exception {
        engine.script(call -> call.send(answer));
        RawClient.Answer got = gateway.post(Gateway.ASK_WHOLE);
        assertEquals(502, got.status(), answer);
        assertTrue(got.body().contains("\"code\":\"bad_upstream_answer\""), got.body());
    }

    @Test
    void a_head_that_could_mean_two_things_is_a_502() throws Exception {
        String ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        badGateway(ok + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
        badGateway(ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}");
        badGateway(ok + "Content-Length: two\r\n\r\n{}");
        badGateway(ok + "Content-Length: 2\nX: y\r\n\r\n{}");
        badGateway(ok + "Transfer-Encoding: gzip, chunked\r\n\r\n");
        badGateway("SSH-2.0-OpenSSH\r\n\r\n");
        badGateway("HTTP/1.1 101 Switching Protocols\r\n\r\n");
        assertEquals(engine.requests.get(), engine.connections.get(), "no such one is kept");
    }

    @Test
    void a_bad_chunk_in_mid_stream_ends_in_an_error_event() throws Exception {
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(StreamingPathTest.token("a"));
                    call.send("5\r\nabcdefgh\r\n");
                });
        RawClient.Answer got = gateway.post(Gateway.ASK);
        assertTrue(got.body().startsWith(StreamingPathTest.token("a") + "data: {\"error\""));
        assertFalse(got.body().contains("abcde"), "half an event");
        assertFalse(got.broken());
    }

    @Test
    void an_answer_up_to_the_close_is_whole() throws Exception {
        engine.script(
                call -> {
                    call.send("HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
                    call.send(StreamingPathTest.token("a") + StreamingPathTest.DONE);
                    call.close();
                });
        RawClient.Answer got = gateway.post(Gateway.ASK);
        assertEquals(StreamingPathTest.token("a") + StreamingPathTest.DONE, got.body());
        assertFalse(got.broken());
    }

    @Test
    void interim_answers_extensions_and_trailers_do_not_reach_the_client() throws Exception {
        engine.script(
                call ->
                        call.send(
                                crlf(
                                        """
                                        HTTP/1.1 100 Continue

                                        HTTP/1.1 103 Early
                                        Link: x

                                        HTTP/1.1 200 OK
                                        Content-Type: application/json
                                        Trailer: X-Sum
                                        Transfer-Encoding: chunked

                                        1;a=b
                                        {
                                        1
                                        }
                                        0
                                        X-Sum: 1

                                        """)));
        RawClient.Answer got = gateway.post(Gateway.ASK_WHOLE);
        assertEquals("{}", got.body());
        assertNull(got.header("link"));
        assertNull(got.header("trailer"));
        assertNull(got.header("x-sum"));
    }

    @Test
    void a_connection_with_bytes_behind_the_answer_is_not_used_again() throws Exception {
        String answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        engine.script(call -> call.send(answer + answer));
        twoOnOneConnection();
        assertEquals(2, engine.connections.get());
    }

    @Test
    void a_connection_that_the_engine_will_close_is_not_used_again() throws Exception {
        engine.script(
                call ->
                        call.send(
                                "HTTP/1.1 200 OK\r\nConnection: close\r\n"
                                        + "Content-Length: 2\r\n\r\n{}"));
        twoOnOneConnection();
        assertEquals(2, engine.connections.get());
    }

    @Test
    void an_announced_keep_alive_of_a_second_is_too_short_to_be_kept() throws Exception {
        engine.script(
                call ->
                        call.send(
                                "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\n"
                                        + "Content-Length: 2\r\n\r\n{}"));
        gateway.post(Gateway.ASK_WHOLE);
        await().untilAsserted(() -> assertEquals(0, engine.openConnections()));
    }

    @Test
    void an_unused_connection_is_closed_after_its_time() throws Exception {
        gateway.close();
        UpstreamOptions d = UpstreamOptions.defaults();
        gateway =
                new Gateway(
                        EnginePath.RAW,
                        GatewayOptions.defaults(),
                        new UpstreamOptions(
                                d.connectTimeout(),
                                d.generation(),
                                d.passThrough(),
                                Duration.ofMillis(100),
                                d.maxConnectionsPerWorker(),
                                d.gather()),
                        Runnable::run);
        gateway.serve(engine);
        assertEquals(200, gateway.post(Gateway.ASK_WHOLE).status());
        await().untilAsserted(() -> assertEquals(0, engine.openConnections()));
        assertEquals(200, gateway.post(Gateway.ASK_WHOLE).status());
    }

    @Test
    void requests_beyond_the_limit_of_connections_wait_for_one() throws Exception {
        gateway.close();
        UpstreamOptions d = UpstreamOptions.defaults();
        gateway =
                new Gateway(
                        EnginePath.RAW,
                        GatewayOptions.defaults(),
                        new UpstreamOptions(
                                Duration.ofSeconds(10),
                                d.generation(),
                                d.passThrough(),
                                d.keepAlive(),
                                1,
                                d.gather()),
                        Runnable::run);
        gateway.serve(engine);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger most = new AtomicInteger();
        AtomicInteger now = new AtomicInteger();
        engine.script(
                call -> {
                    most.accumulateAndGet(now.incrementAndGet(), Math::max);
                    assertTrue(go.await(10, TimeUnit.SECONDS));
                    now.decrementAndGet();
                    call.json(200, "{}");
                });
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            RawClient client = new RawClient(gateway.port);
            client.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
            clients.add(client);
        }
        await().untilAsserted(() -> assertEquals(6, gateway.books.open()));
        go.countDown();
        for (RawClient client : clients) {
            assertEquals(200, client.readAnswer().status());
            client.close();
        }
        // One per event loop, of which there are two.
        assertTrue(most.get() <= 2, () -> most + " at once");
        assertTrue(engine.connections.get() <= 2);
    }

    @Test
    void usage_cut_at_every_place_is_read() throws Exception {
        String end = StreamingPathTest.USAGE + StreamingPathTest.DONE;
        for (int cut = 0; cut < end.length(); cut += 7) {
            int at = cut;
            engine.script(
                    call -> {
                        call.streamHead();
                        call.chunk(StreamingPathTest.token("a"));
                        if (at > 0) {
                            call.chunk(end.substring(0, at));
                        }
                        call.chunk(end.substring(at));
                        call.lastChunk();
                    });
            assertEquals(StreamingPathTest.token("a") + end, gateway.post(Gateway.ASK).body());
        }
        double reported = gateway.meters.get("warmpath.cached.tokens.reported").counter().count();
        assertEquals(48 * engine.requests.get(), reported);
    }

    @Test
    void slow_readers_make_the_gateway_hold_little_each() throws Exception {
        int streams = 25;
        String event = StreamingPathTest.token("x".repeat(8000));
        engine.script(
                call -> {
                    call.streamHead();
                    for (int i = 0; i < 1000; i++) { // 8 MB, more than sockets take
                        call.chunk(event);
                    }
                });
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < streams; i++) {
                RawClient client = new RawClient(gateway.port);
                clients.add(client);
                client.sendPost(Gateway.CHAT, Gateway.ASK);
                client.readHead(); // and nothing more
            }
            // Whatever is held while all streams stand still; what it settles at is the point.
            long[] last = {-1};
            await().pollInterval(Duration.ofMillis(200))
                    .until(
                            () -> {
                                long held = held();
                                boolean still = held == last[0];
                                last[0] = held;
                                return still;
                            });
            assertTrue(last[0] > 0, "nothing is held: the test does not test");
            assertTrue(
                    last[0] / streams <= 80 << 10,
                    () -> last[0] / streams + " bytes of direct memory per stream");
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
        }
    }

    private static String crlf(String lines) {
        return lines.replace("\n", "\r\n");
    }

    /** Direct memory in use, rounded up to the allocator's sizes. */
    private static long held() {
        return PooledByteBufAllocator.DEFAULT.pinnedDirectMemory()
                + ((PooledByteBufAllocator) VertxByteBufAllocator.POOLED_ALLOCATOR)
                        .pinnedDirectMemory();
    }

    private void twoOnOneConnection() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            for (int i = 0; i < 2; i++) {
                client.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
                assertEquals("{}", client.readAnswer().body());
            }
        }
    }
}
