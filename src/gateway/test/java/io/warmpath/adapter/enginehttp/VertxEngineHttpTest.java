package io.warmpath.adapter.enginehttp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.SocketAddress;
import io.warmpath.api.Certificates;
import io.warmpath.fleet.probe.EngineHttp;
import io.warmpath.upstream.tls.EngineTls;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VertxEngineHttpTest {
    private final CountDownLatch release = new CountDownLatch(1);
    private final Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
    private HttpServer server;
    private URI worker;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext(
                "/base/ok",
                exchange -> {
                    byte[] body = "{\"é\":1}".getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(200, body.length);
                    exchange.getResponseBody().write(body);
                    exchange.close();
                });
        server.createContext(
                "/base/slow-head",
                exchange -> {
                    hold();
                    exchange.close();
                });
        server.createContext(
                "/base/echo",
                exchange -> {
                    String said =
                            exchange.getRequestMethod()
                                    + " "
                                    + exchange.getRequestHeaders().getFirst("content-type")
                                    + " "
                                    + exchange.getRequestHeaders().getFirst("authorization")
                                    + " "
                                    + new String(
                                            exchange.getRequestBody().readAllBytes(),
                                            StandardCharsets.UTF_8);
                    byte[] bytes = said.getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(200, bytes.length);
                    exchange.getResponseBody().write(bytes);
                    exchange.close();
                });
        server.createContext(
                "/base/slow-body",
                exchange -> {
                    exchange.sendResponseHeaders(200, 0);
                    exchange.getResponseBody().write('a');
                    exchange.getResponseBody().flush();
                    hold();
                    exchange.close();
                });
        server.createContext(
                "/base/endless",
                exchange -> {
                    exchange.sendResponseHeaders(200, 0);
                    byte[] block = new byte[1 << 20];
                    for (int i = 0; i < 64; i++) {
                        exchange.getResponseBody().write(block);
                    }
                    exchange.close();
                });
        server.createContext(
                "/base/redirect",
                exchange -> {
                    exchange.getResponseHeaders().add("location", "/base/ok");
                    exchange.sendResponseHeaders(302, -1);
                    exchange.close();
                });
        server.start();
        worker = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/base");
    }

    private void hold() {
        try {
            assertTrue(release.await(30, TimeUnit.SECONDS), "the test did not end");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @AfterEach
    void stop() {
        release.countDown();
        server.stop(0);
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    /** As uvicorn after an exception of its application: the connection ends without a word. */
    @Test
    void a_kept_connection_that_was_closed_since_is_no_failure() throws Exception {
        byte[] answer =
                "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 2\r\n\r\nno"
                        .getBytes(StandardCharsets.US_ASCII);
        AtomicInteger connections = new AtomicInteger();
        try (ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                VertxEngineHttp http =
                        new VertxEngineHttp(
                                vertx, Duration.ofSeconds(10), VertxEngineHttpTest::noTls)) {
            Thread.ofVirtual()
                    .start(
                            () -> {
                                while (!listener.isClosed()) {
                                    try (Socket one = listener.accept()) {
                                        connections.incrementAndGet();
                                        byte[] head = new byte[4096];
                                        if (one.getInputStream().read(head) > 0) {
                                            one.getOutputStream().write(answer);
                                            one.getInputStream().read(head); // answered by the end
                                        }
                                    } catch (IOException e) {
                                        return; // the test is over
                                    }
                                }
                            });
            URI engine = URI.create("http://127.0.0.1:" + listener.getLocalPort());
            for (int i = 1; i <= 5; i++) {
                assertEquals(500, http.get(engine, "/server_info").status());
                assertEquals(i, connections.get());
            }
            // The kept connection says nothing of the engine: the question goes over a new one.
            assertEquals(500, http.post(engine, "/tokenize", "{}", null).status());
            assertEquals(6, connections.get());
        }
    }

    /** What may have had an effect is not said twice. */
    @Test
    void a_new_connection_that_is_closed_fails_what_is_posted_and_a_second_one_any_question()
            throws Exception {
        AtomicInteger connections = new AtomicInteger();
        try (ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                VertxEngineHttp http =
                        new VertxEngineHttp(
                                vertx, Duration.ofSeconds(10), VertxEngineHttpTest::noTls)) {
            Thread.ofVirtual()
                    .start(
                            () -> {
                                while (!listener.isClosed()) {
                                    try (Socket one = listener.accept()) {
                                        connections.incrementAndGet();
                                        one.getInputStream().read(new byte[4096]);
                                    } catch (IOException e) {
                                        return; // the test is over
                                    }
                                }
                            });
            URI engine = URI.create("http://127.0.0.1:" + listener.getLocalPort());
            assertThrows(IOException.class, () -> http.post(engine, "/tokenize", "{}", null));
            assertEquals(1, connections.get());
            assertThrows(IOException.class, () -> http.get(engine, "/health"));
            assertEquals(3, connections.get());
        }
    }

    @Test
    void status_and_body_are_passed_on() throws IOException {
        try (VertxEngineHttp http =
                new VertxEngineHttp(vertx, Duration.ofSeconds(10), VertxEngineHttpTest::noTls)) {
            assertEquals(new EngineHttp.Answer(200, "{\"é\":1}"), http.get(worker, "/ok"));
            assertEquals(404, http.get(worker, "/nothing").status());
            assertFalse(http.get(worker, "/redirect").ok(), "an engine does not redirect");
        }
    }

    @Test
    void a_body_is_posted_as_json() throws IOException {
        try (VertxEngineHttp http =
                new VertxEngineHttp(vertx, Duration.ofSeconds(10), VertxEngineHttpTest::noTls)) {
            assertEquals(
                    "POST application/json null {\"é\":1}",
                    http.post(worker, "/echo", "{\"é\":1}", null).body());
            assertEquals(
                    "POST application/json Bearer x {}",
                    http.post(worker, "/echo", "{}", "Bearer x").body());
        }
    }

    @Test
    void silence_before_or_inside_the_answer_is_an_error_that_is_not_a_refusal() {
        try (VertxEngineHttp http =
                new VertxEngineHttp(vertx, Duration.ofMillis(200), VertxEngineHttpTest::noTls)) {
            for (String path : new String[] {"/slow-head", "/slow-body"}) {
                IOException e = assertThrows(IOException.class, () -> http.get(worker, path));
                assertEquals("no answer within 200 ms", e.getMessage(), path);
                assertFalse(e instanceof ConnectException, path);
            }
        }
    }

    @Test
    void an_endless_answer_is_cut_off() {
        try (VertxEngineHttp http =
                new VertxEngineHttp(vertx, Duration.ofSeconds(20), VertxEngineHttpTest::noTls)) {
            assertThrows(IOException.class, () -> http.get(worker, "/endless"));
        }
    }

    @Test
    void a_port_where_nobody_listens_is_a_refusal() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        try (VertxEngineHttp http =
                new VertxEngineHttp(vertx, Duration.ofSeconds(10), VertxEngineHttpTest::noTls)) {
            ConnectException e =
                    assertThrows(
                            ConnectException.class,
                            () -> http.get(URI.create("http://127.0.0.1:" + port), "/health"));
            assertEquals("connection refused", e.getMessage());
        }
    }

    @Test
    void an_engine_behind_a_socket_file_is_asked_there(@TempDir Path dir) throws Exception {
        Path file = dir.resolve("engine.sock");
        URI url = URI.create("unix://" + file);
        try (VertxEngineHttp http =
                new VertxEngineHttp(vertx, Duration.ofSeconds(10), VertxEngineHttpTest::noTls)) {
            assertThrows(ConnectException.class, () -> http.get(url, "/health"), "no file yet");
            io.vertx.core.http.HttpServer engine = echo(new HttpServerOptions());
            engine.listen(SocketAddress.domainSocketAddress(file.toString()))
                    .toCompletionStage()
                    .toCompletableFuture()
                    .join();
            assertEquals(new EngineHttp.Answer(200, "HTTP_1_1 /health"), http.get(url, "/health"));
        }
    }

    @Test
    void an_engine_that_speaks_http2_only_is_asked_in_it() throws Exception {
        io.vertx.core.http.HttpServer engine =
                echo(new HttpServerOptions().setHttp2ClearTextEnabled(true));
        int port =
                engine.listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .join()
                        .actualPort();
        try (VertxEngineHttp http =
                new VertxEngineHttp(vertx, Duration.ofSeconds(10), VertxEngineHttpTest::noTls)) {
            assertEquals(
                    new EngineHttp.Answer(200, "HTTP_2 /base/v1/models"),
                    http.get(URI.create("h2c://127.0.0.1:" + port + "/base"), "/v1/models"));
        }
    }

    private io.vertx.core.http.HttpServer echo(HttpServerOptions options) {
        return vertx.createHttpServer(options)
                .requestHandler(r -> r.response().end(r.version() + " " + r.uri()));
    }

    @Test
    void the_certificate_of_an_engine_is_checked_against_the_trust_store(@TempDir Path dir)
            throws Exception {
        HttpsServer secure =
                HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        secure.setHttpsConfigurator(
                new HttpsConfigurator(
                        Certificates.server(
                                Certificates.make(dir, "engine", "ip:127.0.0.1"), null)));
        secure.start();
        URI url = URI.create("https://127.0.0.1:" + secure.getAddress().getPort());
        try (VertxEngineHttp http =
                new VertxEngineHttp(vertx, Duration.ofSeconds(10), EngineTls.standard()::applyTo)) {
            IOException e = assertThrows(IOException.class, () -> http.get(url, "/health"));
            assertTrue(
                    String.valueOf(e.getMessage()).contains("valid certification path"),
                    e.getMessage());
            assertEquals(200, http.get(worker, "/ok").status());
        } finally {
            secure.stop(0);
        }
    }

    @Test
    void a_host_without_an_address_is_an_error_that_names_it() {
        try (VertxEngineHttp http =
                new VertxEngineHttp(vertx, Duration.ofSeconds(10), VertxEngineHttpTest::noTls)) {
            IOException e =
                    assertThrows(
                            IOException.class,
                            () -> http.get(URI.create("http://no-such-host.invalid:1"), "/x"));
            assertEquals("the host name cannot be resolved", e.getMessage());
            assertFalse(e instanceof ConnectException, "an unknown name is not a stopped process");
        }
    }

    private static HttpClientOptions noTls(HttpClientOptions options) {
        throw new AssertionError("no worker here speaks TLS");
    }
}
