package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.vertx.core.Vertx;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.SlotCredits;
import io.warmpath.upstream.tls.EngineTls;
import io.warmpath.wiring.fleet.FleetLog;
import io.warmpath.wiring.fleet.FleetRuntime;
import io.warmpath.wiring.settings.AddressSetup;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Workers that do not answer as engines: each is told of once, with the cause and what to do. */
@Tag("slow")
class UnlearntWorkersTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private final Vertx vertx = Vertx.vertx();
    private final Logs logs = new Logs(FleetLog.class);
    private FleetRuntime runtime;

    private void start(String url, Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(more);
        settings.put("warmpath.worker-urls", url);
        settings.put("warmpath.fleet.unhealthy-interval", "20ms");
        settings.putIfAbsent("warmpath.fleet.health-timeout", "5s");
        runtime =
                new FleetRuntime(
                        TestConfig.of(settings),
                        vertx,
                        EngineTls.standard(),
                        new SignsOfLife(),
                        AddressSetup.guard(TestConfig.of(settings).addresses()),
                        new ReferencePrefixIndex(),
                        null,
                        new SlotCredits(),
                        source -> null,
                        new LoadTracker(),
                        () -> false);
        runtime.start();
    }

    @AfterEach
    void stop() {
        logs.close();
        if (runtime != null) {
            runtime.close();
        }
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private List<String> told() {
        return logs.at(Level.WARNING).stream().filter(l -> l.contains("no requests")).toList();
    }

    /** After the worker has been asked three times. */
    private String toldOnce() {
        await().atMost(SOON).until(() -> runtime.monitor().failedProbes() >= 3);
        assertEquals(1, told().size(), () -> told().toString());
        WorkerStatus status = runtime.registry().status().getFirst();
        assertEquals(WorkerState.STARTING, status.worker().state());
        assertTrue(told().getFirst().endsWith(": " + status.problem()), told().getFirst());
        assertEquals(Map.of("w0", status.problem()), runtime.registry().problems());
        return told().getFirst();
    }

    @Test
    void nobody_listens_there() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        start("http://127.0.0.1:" + port, Map.of());
        assertEquals(
                "Worker w0 at http://127.0.0.1:"
                        + port
                        + " gets no requests yet and is asked again and again: connection refused;"
                        + " is the engine still starting, and is that the port of the engine's HTTP"
                        + " API?",
                toldOnce());
    }

    @Test
    void its_name_is_unknown() {
        start("http://no-such-engine.invalid:8000", Map.of());
        String told = toldOnce();
        assertTrue(told.contains("the host name cannot be resolved; is it written as"), told);
    }

    @Test
    void it_accepts_and_says_nothing() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            start(
                    "http://127.0.0.1:" + silent.getLocalPort(),
                    Map.of("warmpath.fleet.health-timeout", "200ms"));
            String told = toldOnce();
            assertTrue(told.contains("no answer within 200 ms; is the host right"), told);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "404 | {}               | GET /v1/models answered 404; is that the port",
                "401 | {}               | GET /v1/models answered 401; give the engine's API key",
                "503 | {}               | GET /v1/models answered 503; is the engine still starting",
                "200 | <html></html>    | GET /v1/models is not JSON; is that the port",
                "200 | {\"ok\":true}    | GET /v1/models has no list named data; is that the port",
                "200 | {\"data\":[]}    | GET /v1/models lists no model; is that the port",
            })
    void it_is_no_engine(int status, String body, String cause) throws IOException {
        HttpServer other =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.createContext(
                "/",
                exchange -> {
                    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(status, bytes.length);
                    exchange.getResponseBody().write(bytes);
                    exchange.close();
                });
        other.start();
        try {
            start("http://127.0.0.1:" + other.getAddress().getPort() + "/v1", Map.of());
            String told = toldOnce();
            assertTrue(told.contains(": " + cause), told);
            assertFalse(told.contains("/v1 "), "the address is the one without: " + told);
        } finally {
            other.stop(0);
        }
    }

    /** As a port of ZeroMQ does, of which engines have some. */
    @Test
    void it_speaks_no_http() throws IOException {
        try (ServerSocket zmq = answering("\u00ff\0\0\0\0\0\0\0\1\u007f\3\0NULL\r\n\r\n")) {
            start("http://127.0.0.1:" + zmq.getLocalPort(), Map.of());
            String told = toldOnce();
            assertTrue(told.contains("what answers there is no HTTP; is that the port"), told);
        }
    }

    private static ServerSocket answering(String what) throws IOException {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.startVirtualThread(
                () -> {
                    while (!server.isClosed()) {
                        answer(server, what.getBytes(StandardCharsets.ISO_8859_1));
                    }
                });
        return server;
    }

    private static void answer(ServerSocket server, byte[] what) {
        try (Socket s = server.accept();
                InputStream in = s.getInputStream();
                OutputStream out = s.getOutputStream()) {
            out.write(what);
            out.flush();
            in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // the other side has closed, or the test is over
        }
    }

    @Test
    void it_speaks_no_tls() throws IOException {
        try (ServerSocket plain = answering("HTTP/1.1 400 Bad Request\r\n\r\n")) {
            start("https://127.0.0.1:" + plain.getLocalPort(), Map.of());
            String told = toldOnce();
            assertTrue(told.contains("answers there is no TLS; does the engine speak TLS"), told);
        }
    }

    @Test
    void another_cause_is_told_too_and_so_is_the_end() throws Exception {
        try (TestEngine engine = TestEngine.sglang()) {
            engine.stop();
            start(engine.url(), Map.of());
            await().atMost(SOON).until(() -> told().size() == 1);
            engine.startAgain();
            await().atMost(SOON)
                    .until(() -> logs.at(Level.INFO).contains("Worker w0 is READY: answered"));
            assertEquals(Map.of(), runtime.registry().problems());
        }
    }
}
