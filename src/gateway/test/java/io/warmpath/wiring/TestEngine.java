package io.warmpath.wiring;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * An engine's status endpoints, and one completion, over real HTTP; can be stopped and started
 * again on its port.
 */
public final class TestEngine implements AutoCloseable {
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private static final Set<String> HEALTH = Set.of("/health", "/ready", "/ping");

    private final Set<String> authorizations = ConcurrentHashMap.newKeySet();
    private final Map<String, CountDownLatch> heldBack = new ConcurrentHashMap<>();
    private volatile int healthStatus = 200;
    private final int port;
    private HttpServer server;

    private TestEngine() {
        server = listen(0);
        port = server.getAddress().getPort();
    }

    /** Serves model {@code tiny} as SGLang recorded it, with events at its own host. */
    public static TestEngine sglang() {
        TestEngine engine = new TestEngine();
        engine.answers.put("/v1/models", recorded("sglang-models.json"));
        engine.answers.put("/server_info", recorded("sglang-server_info.json"));
        engine.answers.put(
                "/v1/completions",
                "{\"choices\":[{\"text\":\"hi\"}],\"usage\":{\"completion_tokens\":1}}");
        return engine;
    }

    /** Has a health check, and nothing else that is asked: SGLang's that encodes media. */
    public static TestEngine encoder() {
        return new TestEngine();
    }

    private static String recorded(String file) {
        try (InputStream in = TestEngine.class.getResourceAsStream("/engines/" + file)) {
            return new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private HttpServer listen(int at) {
        try {
            HttpServer http =
                    HttpServer.create(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), at), 0);
            http.createContext(
                    "/",
                    exchange -> {
                        String path = exchange.getRequestURI().getPath();
                        authorizations.add(
                                String.valueOf(
                                        exchange.getRequestHeaders().getFirst("authorization")));
                        release(path);
                        String body = answers.get(path);
                        int status =
                                HEALTH.contains(path) ? healthStatus : body == null ? 404 : 200;
                        byte[] bytes =
                                (body == null ? "" : body)
                                        .getBytes(java.nio.charset.StandardCharsets.UTF_8);
                        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
                        exchange.getResponseBody().write(bytes);
                        exchange.close();
                    });
            // One that holds an answer back goes on with the others.
            http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            http.start();
            return http;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Answers nothing at {@code path} until the latch is counted down. */
    CountDownLatch holdBack(String path) {
        CountDownLatch until = new CountDownLatch(1);
        heldBack.put(path, until);
        return until;
    }

    private void release(String path) throws IOException {
        CountDownLatch until = heldBack.get(path);
        try {
            if (until != null && !until.await(30, TimeUnit.SECONDS)) {
                throw new IOException(path + " was never let go");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What it was shown in all requests; "null" for nothing. */
    Set<String> authorizations() {
        return Set.copyOf(authorizations);
    }

    public String url() {
        return "http://127.0.0.1:" + port;
    }

    public void health(int status) {
        healthStatus = status;
    }

    public void stop() {
        server.stop(0);
    }

    public void startAgain() {
        server = listen(port);
    }

    @Override
    public void close() {
        stop();
    }
}
