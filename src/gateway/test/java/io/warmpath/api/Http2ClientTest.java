package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.upstream.UpstreamOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** Clients that speak HTTP/2 over TLS, many streams over one connection. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class Http2ClientTest {
    @TempDir static Path folder;

    private static Certificates.Identity own;

    @Parameter EnginePath path;

    private final Vertx vertx = Vertx.vertx();
    private Gateway gateway;
    private StubEngine engine;
    private HttpClient client;
    private int port;

    @BeforeAll
    static void certificate() throws Exception {
        own = Certificates.make(folder, "gateway", "ip:127.0.0.1");
    }

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(path);
        engine = new StubEngine(call -> call.json(200, "{}"));
        gateway.serve(engine);
        port = gateway.listenTls(own);
        client =
                vertx.createHttpClient(
                        new HttpClientOptions()
                                .setProtocolVersion(HttpVersion.HTTP_2)
                                // With less, streams that are not read take it from the others.
                                .setHttp2ConnectionWindowSize(4 << 20)
                                .setSsl(true)
                                .setUseAlpn(true)
                                .setTrustAll(true)
                                .setVerifyHost(false),
                        new PoolOptions().setHttp2MaxSize(1));
    }

    @AfterEach
    void stop() throws Exception {
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        assertEquals(0, gateway.books.closedTwice.get());
        vertx.close().toCompletionStage().toCompletableFuture().join();
        gateway.close();
        engine.close();
        assertTrue(engine.failures.isEmpty(), () -> "engine: " + engine.failures);
    }

    /** What has arrived of one answer. */
    private static final class Running {
        final BlockingQueue<String> parts = new LinkedBlockingQueue<>();
        final CountDownLatch head = new CountDownLatch(1);
        volatile HttpClientRequest request;
        volatile HttpClientResponse response;

        String next() throws InterruptedException {
            String part = parts.poll(10, TimeUnit.SECONDS);
            assertTrue(part != null, "nothing more within ten seconds");
            return part;
        }
    }

    private Running ask(String json, boolean reading) {
        Running running = new Running();
        client.request(HttpMethod.POST, port, "127.0.0.1", Gateway.CHAT)
                .compose(
                        request -> {
                            running.request = request;
                            request.response()
                                    .onSuccess(
                                            response -> {
                                                running.response = response;
                                                response.handler(
                                                        b -> running.parts.add(b.toString()));
                                                response.exceptionHandler(e -> {});
                                                if (!reading) {
                                                    response.pause();
                                                }
                                                running.head.countDown();
                                            });
                            return request.end(Buffer.buffer(json));
                        });
        return running;
    }

    private String whole(String json) throws Exception {
        Future<Buffer> body =
                client.request(HttpMethod.POST, port, "127.0.0.1", Gateway.CHAT)
                        .compose(r -> r.send(json))
                        .compose(
                                r -> {
                                    assertEquals(HttpVersion.HTTP_2, r.version());
                                    return r.body();
                                });
        return body.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS).toString();
    }

    @Test
    void streams_whole_answers_and_errors_come_through() throws Exception {
        engine.script(
                call -> {
                    if (call.bodyText().contains("\"stream\":true")) {
                        call.streamHead();
                        call.chunk(token("a"));
                        call.chunk(token("x".repeat(100_000)));
                        call.chunk(DONE);
                        call.lastChunk();
                    } else {
                        call.json(200, "{\"n\":1}");
                    }
                });
        for (int i = 0; i < 3; i++) {
            assertEquals(token("a") + token("x".repeat(100_000)) + DONE, whole(Gateway.ASK));
            assertEquals("{\"n\":1}", whole(Gateway.ASK_WHOLE));
            assertTrue(whole("{\"model\":").contains("invalid_request_error"));
        }
    }

    @Test
    void each_token_arrives_before_the_next_is_made() throws Exception {
        Semaphore seen = new Semaphore(0);
        engine.script(
                call -> {
                    call.streamHead();
                    for (int i = 0; i < 5; i++) {
                        call.chunk(token("t" + i));
                        assertTrue(seen.tryAcquire(10, TimeUnit.SECONDS));
                    }
                    call.chunk(DONE);
                    call.lastChunk();
                });
        Running running = ask(Gateway.ASK, true);
        for (int i = 0; i < 5; i++) {
            assertEquals(token("t" + i), running.next());
            seen.release();
        }
        assertEquals(DONE, running.next());
    }

    @Test
    void a_stream_that_is_reset_stops_its_engine_and_no_other() throws Exception {
        Semaphore gone = new Semaphore(0);
        CountDownLatch over = new CountDownLatch(1);
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(token("a"));
                    if (call.bodyText().contains("leaves")) {
                        assertTrue(call.awaitGone());
                        gone.release();
                    } else {
                        assertTrue(over.await(10, TimeUnit.SECONDS));
                        call.chunk(DONE);
                        call.lastChunk();
                    }
                });
        Running stays = ask(Gateway.ASK, true);
        Running leaves = ask(Gateway.ASK.replace("hi", "leaves"), true);
        assertEquals(token("a"), stays.next());
        assertEquals(token("a"), leaves.next());
        leaves.request.reset();
        assertTrue(gone.tryAcquire(10, TimeUnit.SECONDS), "the engine goes on");
        await().untilAsserted(
                        () ->
                                assertEquals(
                                        1,
                                        gateway.counter(
                                                "warmpath.requests", "outcome", "cancelled")));
        over.countDown();
        assertEquals(DONE, stays.next());
    }

    @Test
    void a_gateway_that_stops_ends_its_streams_and_takes_no_others() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(token("a"));
                    assertTrue(over.await(10, TimeUnit.SECONDS));
                    call.chunk(DONE);
                    call.lastChunk();
                });
        Running stays = ask(Gateway.ASK, true);
        assertEquals(token("a"), stays.next());
        gateway.inference.rawRequests().closed(() -> {});
        Running late = ask(Gateway.ASK, true);
        assertTrue(late.next().contains("\"code\":\"stopping\""));
        assertEquals(503, late.response.statusCode());
        assertEquals("1", late.response.getHeader("retry-after"));
        over.countDown();
        assertEquals(DONE, stays.next());
        assertEquals(1, engine.requests.get());
    }

    @Test
    void a_stream_that_is_not_read_holds_its_engine_back_and_no_other_stream() throws Exception {
        AtomicLong sent = new AtomicLong();
        CountDownLatch over = new CountDownLatch(1);
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(token("a"));
                    if (!call.bodyText().contains("slow")) {
                        call.chunk(DONE);
                        call.lastChunk();
                        return;
                    }
                    try {
                        while (over.getCount() > 0) {
                            call.chunk(token("x".repeat(16_000)));
                            sent.addAndGet(16_000);
                        }
                    } catch (java.io.IOException e) {
                        over.countDown(); // the client has left at the end of the test
                    }
                });
        List<Running> slow = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            slow.add(ask(Gateway.ASK.replace("hi", "slow"), false));
        }
        for (Running running : slow) {
            assertTrue(running.head.await(10, TimeUnit.SECONDS));
        }
        assertEquals(token("a") + DONE, whole(Gateway.ASK), "another stream of the connection");
        // The engines' sends stop when the sockets between are full.
        AtomicLong before = new AtomicLong(-1);
        await().pollInterval(300, TimeUnit.MILLISECONDS)
                .until(() -> before.getAndSet(sent.get()) == sent.get());
        assertEquals(token("a") + DONE, whole(Gateway.ASK), "another stream of the connection");
        slow.forEach(running -> running.request.reset());
    }

    /** Of one that drips only its own stream is ended. */
    @Test
    void a_body_that_drips_is_a_408_and_its_neighbours_go_on() throws Exception {
        gateway.close();
        GatewayOptions options =
                GatewayOptions.defaults()
                        .with(
                                new ClientBounds(
                                        Duration.ZERO,
                                        Duration.ZERO,
                                        Duration.ofMillis(400),
                                        1 << 20));
        gateway = new Gateway(path, options, UpstreamOptions.defaults(), Runnable::run);
        gateway.serve(engine);
        port = gateway.listenTls(own);
        Running steady = new Running();
        BlockingQueue<String> status = new LinkedBlockingQueue<>();
        for (boolean drips : new boolean[] {true, false}) {
            client.request(HttpMethod.POST, port, "127.0.0.1", Gateway.CHAT)
                    .onSuccess(
                            request -> {
                                request.setChunked(true);
                                request.exceptionHandler(e -> {}); // its stream is ended
                                request.write(drips ? "{" : " ");
                                request.response()
                                        .onSuccess(r -> status.add(drips + " " + r.statusCode()));
                                if (!drips) {
                                    steady.request = request;
                                    steady.head.countDown();
                                }
                            });
        }
        assertTrue(steady.head.await(10, TimeUnit.SECONDS));
        AtomicInteger steps = new AtomicInteger();
        await().atMost(30, TimeUnit.SECONDS)
                .pollDelay(Duration.ZERO)
                .pollInterval(50, TimeUnit.MILLISECONDS)
                .until(
                        () -> { // 1,000 bytes and more a span, for five of them at least
                            steady.request.write(" ".repeat(200));
                            return steps.incrementAndGet() >= 40;
                        });
        assertEquals("true 408", status.poll(10, TimeUnit.SECONDS));
        steady.request.end(Gateway.ASK_WHOLE);
        assertEquals("false 200", status.poll(10, TimeUnit.SECONDS));
        assertEquals("{}", whole(Gateway.ASK_WHOLE));
    }

    /** From the second request of a connection on, they go past the codec, behind TLS. */
    @Test
    void a_client_with_http_1_1_over_tls_is_answered_on_one_connection() {
        HttpClient older =
                vertx.createHttpClient(
                        new HttpClientOptions()
                                .setProtocolVersion(HttpVersion.HTTP_1_1)
                                .setSsl(true)
                                .setUseAlpn(true)
                                .setTrustAll(true)
                                .setVerifyHost(false),
                        new PoolOptions().setHttp1MaxSize(1));
        for (int i = 1; i <= 4; i++) {
            assertEquals(
                    "{}",
                    older.request(HttpMethod.POST, port, "127.0.0.1", Gateway.CHAT)
                            .compose(request -> request.send(Buffer.buffer(Gateway.ASK_WHOLE)))
                            .compose(HttpClientResponse::body)
                            .toCompletionStage()
                            .toCompletableFuture()
                            .join()
                            .toString());
            assertEquals(i, engine.requests.get());
        }
        assertEquals(path.isRaw() ? 1 : 4, gateway.throughCodec());
    }
}
