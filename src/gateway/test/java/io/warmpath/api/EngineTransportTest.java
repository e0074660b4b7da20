package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.SocketAddress;
import io.warmpath.admission.AdmissionOptions;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.upstream.UpstreamOptions;
import io.warmpath.upstream.tls.EngineTls;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;

/** Engines that are not reached by HTTP/1.1 over TCP, behind the real path. */
@ParameterizedClass
@CsvSource({
    "RAW,UNIX",
    "VERTX,UNIX",
    "RAW,HTTP2",
    "VERTX,HTTP2",
    "RAW,HTTP2_TLS",
    "VERTX,HTTP2_TLS"
})
@ExtendWith(Leaks.class)
@Tag("slow")
class EngineTransportTest {
    enum Transport {
        UNIX,
        HTTP2,
        HTTP2_TLS
    }

    @TempDir Path folder;

    @Parameter(0)
    EnginePath path;

    @Parameter(1)
    Transport transport;

    private final Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
    private final List<HttpServerRequest> requests = new CopyOnWriteArrayList<>();
    private final Set<Object> connections = ConcurrentHashMap.newKeySet();
    private Gateway gateway;
    private HttpServer engine;

    private interface Script {
        void serve(HttpServerRequest request, String body);
    }

    private void start(Script script) throws Exception {
        EngineTls tls = EngineTls.standard();
        HttpServerOptions options = new HttpServerOptions().setHttp2ClearTextEnabled(true);
        if (transport == Transport.HTTP2_TLS) {
            Certificates.Identity own = Certificates.make(folder, "engine" + path, "ip:127.0.0.1");
            options.setSsl(true)
                    .setUseAlpn(true)
                    .setAlpnVersions(List.of(HttpVersion.HTTP_2))
                    .setKeyCertOptions(
                            new PemKeyCertOptions()
                                    .setCertPath(own.certificate().toString())
                                    .setKeyPath(own.key().toString()));
            tls = new EngineTls(own.certificate(), null, null, true);
        }
        Path file = folder.resolve(path + ".sock");
        engine =
                vertx.createHttpServer(options)
                        .requestHandler(
                                r -> {
                                    connections.add(r.connection());
                                    requests.add(r);
                                    r.body().onSuccess(b -> script.serve(r, b.toString()));
                                });
        int port =
                (transport == Transport.UNIX
                                ? engine.listen(SocketAddress.domainSocketAddress(file.toString()))
                                : engine.listen(0, "127.0.0.1"))
                        .toCompletionStage()
                        .toCompletableFuture()
                        .join()
                        .actualPort();
        gateway =
                new Gateway(
                        path,
                        GatewayOptions.defaults(),
                        UpstreamOptions.defaults(),
                        tls,
                        Runnable::run,
                        AdmissionOptions.OFF);
        URI url =
                switch (transport) {
                    case UNIX -> URI.create("unix://" + file);
                    case HTTP2 -> URI.create("h2c://127.0.0.1:" + port);
                    case HTTP2_TLS -> URI.create("h2://127.0.0.1:" + port);
                };
        gateway.fleet.workers(
                List.of(Gateway.worker(0, url, EngineKind.OPENAI, WorkerState.READY, 1)));
    }

    @AfterEach
    void stop() throws Exception {
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        gateway.close();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private static HttpServerResponse stream(HttpServerRequest request) {
        return request.response().setChunked(true).putHeader("content-type", "text/event-stream");
    }

    @Test
    void streams_and_whole_answers_come_through_over_kept_connections() throws Exception {
        start(
                (request, body) -> {
                    if (body.contains("\"stream\":true")) {
                        HttpServerResponse out = stream(request);
                        out.write(token("a"));
                        out.write(token("x".repeat(40_000)));
                        out.end(DONE);
                    } else {
                        request.response()
                                .putHeader("content-type", "application/json")
                                .end("{\"n\":1}");
                    }
                });
        for (int i = 0; i < 5; i++) {
            assertEquals(
                    token("a") + token("x".repeat(40_000)) + DONE,
                    gateway.post(Gateway.ASK).body());
            assertEquals("{\"n\":1}", gateway.post(Gateway.ASK_WHOLE).body());
        }
        HttpVersion spoken =
                transport == Transport.UNIX ? HttpVersion.HTTP_1_1 : HttpVersion.HTTP_2;
        for (HttpServerRequest r : requests) {
            assertEquals(spoken, r.version());
            assertEquals("/v1/chat/completions", r.uri());
            assertEquals(
                    transport == Transport.UNIX ? "localhost" : "127.0.0.1", r.authority().host());
        }
        assertTrue(connections.size() <= 2, () -> connections.size() + ": one for each loop");
    }

    @Test
    void each_token_arrives_before_the_next_is_made() throws Exception {
        Semaphore seen = new Semaphore(0);
        start(
                (request, body) -> {
                    HttpServerResponse out = stream(request);
                    out.write(token("0"));
                    vertx.executeBlocking(
                            () -> {
                                for (int i = 1; i <= 5; i++) {
                                    assertTrue(seen.tryAcquire(10, TimeUnit.SECONDS));
                                    out.write(token(Integer.toString(i)));
                                }
                                return out.end(DONE);
                            });
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead();
            for (int i = 0; i <= 5; i++) {
                assertTrue(client.readChunk().contains(token(Integer.toString(i)).strip()), "" + i);
                seen.release();
            }
        }
    }

    @Test
    void a_client_that_leaves_stops_the_engine() throws Exception {
        Semaphore gone = new Semaphore(0);
        start(
                (request, body) -> {
                    HttpServerResponse out = stream(request);
                    AtomicInteger told = new AtomicInteger();
                    Runnable leave =
                            () -> {
                                if (told.getAndIncrement() == 0) {
                                    gone.release();
                                }
                            };
                    out.exceptionHandler(e -> leave.run());
                    out.closeHandler(v -> leave.run());
                    out.write(token("a"));
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead();
            client.readChunk();
        }
        assertTrue(gone.tryAcquire(10, TimeUnit.SECONDS), "the engine goes on");
    }

    @Test
    void clients_that_do_not_read_do_not_stop_the_others() throws Exception {
        start(
                (request, body) -> {
                    HttpServerResponse out = stream(request);
                    out.write(token("a"));
                    if (body.contains("\"slow\"")) {
                        pour(out, 400);
                    } else {
                        out.end(DONE);
                    }
                });
        List<RawClient> slow = new ArrayList<>();
        try {
            for (int i = 0; i < 12; i++) {
                RawClient client = new RawClient(gateway.port);
                slow.add(client);
                client.sendPost(Gateway.CHAT, Gateway.ASK.replace("hi", "slow"));
                client.readHead();
            }
            for (int i = 0; i < 10; i++) {
                assertEquals(token("a") + DONE, gateway.post(Gateway.ASK).body());
            }
        } finally {
            for (RawClient client : slow) {
                client.close();
            }
        }
    }

    /** Writes as fast as it is taken. */
    private static void pour(HttpServerResponse out, int left) {
        int now = left;
        while (now > 0 && !out.writeQueueFull()) {
            out.write(token("x".repeat(16_000)));
            now--;
        }
        int rest = now;
        if (rest > 0) {
            out.drainHandler(v -> pour(out, rest));
        } else {
            out.end(DONE);
        }
    }

    @Test
    void an_engine_that_is_not_there_is_a_503_and_one_that_came_back_is_used() throws Exception {
        start((request, body) -> stream(request).end(token("a") + DONE));
        assertEquals(200, gateway.post(Gateway.ASK).status());
        SocketAddress at =
                transport == Transport.UNIX
                        ? SocketAddress.domainSocketAddress(
                                folder.resolve(path + ".sock").toString())
                        : SocketAddress.inetSocketAddress(engine.actualPort(), "127.0.0.1");
        engine.close().toCompletionStage().toCompletableFuture().join();
        assertEquals(503, gateway.post(Gateway.ASK).status());
        if (transport != Transport.UNIX) {
            return; // a listener that was closed cannot be opened again with its port at once
        }
        vertx.createHttpServer()
                .requestHandler(r -> stream(r).end(token("b") + DONE))
                .listen(at)
                .toCompletionStage()
                .toCompletableFuture()
                .join();
        assertEquals(token("b") + DONE, gateway.post(Gateway.ASK).body());
    }
}
