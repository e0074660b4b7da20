package io.warmpath.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Answers as a gateway would, with bodies of a test; runs commands before it. */
final class StubGateway implements AutoCloseable {
    static final Instant NOW = Instant.parse("2026-11-24T18:02:31Z");

    private record Answer(int status, String body) {}

    private final HttpServer server;
    private final Map<String, ArrayDeque<Answer>> answers = new HashMap<>();
    private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
    final Map<String, String> environment = new HashMap<>();
    final List<Duration> pauses = new ArrayList<>();
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final ByteArrayOutputStream err = new ByteArrayOutputStream();
    String input = "";

    StubGateway() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        environment.put("WARMPATH_URL", url());
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Of the answers that tests share. */
    static String file(String name) {
        try {
            return Files.readString(Path.of("src/test/resources/cli", name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The last answer to a path is given again and again. */
    StubGateway on(String methodAndPath, int status, String body) {
        answers.computeIfAbsent(methodAndPath, p -> new ArrayDeque<>())
                .add(new Answer(status, body));
        return this;
    }

    StubGateway onAll() {
        return on("GET /fleet", 200, file("fleet.json"))
                .on("GET /usage", 200, file("usage.json"))
                .on("GET /router/decisions", 200, file("decisions.json"))
                .on("POST /router/ask", 200, file("ask.json"));
    }

    static String error(String message, String code) {
        return "{\"error\":{\"message\":\""
                + message
                + "\",\"type\":\"t\",\"param\":null,\"code\":\""
                + code
                + "\"}}";
    }

    private synchronized void answer(HttpExchange exchange) throws IOException {
        String method = exchange.getRequestMethod();
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String token = exchange.getRequestHeaders().getFirst("authorization");
        asked.add(
                method
                        + " "
                        + exchange.getRequestURI()
                        + (body.isEmpty() ? "" : " " + body)
                        + (token == null ? "" : " with " + token));
        ArrayDeque<Answer> queue =
                answers.get(method + " " + exchange.getRequestURI().getRawPath());
        Answer answer =
                queue == null
                        ? new Answer(404, error("There is no such path.", "unknown_url"))
                        : queue.size() > 1 ? queue.poll() : queue.peek();
        byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(answer.status(), bytes.length == 0 ? -1 : bytes.length);
        try (exchange) {
            exchange.getResponseBody().write(bytes);
        }
    }

    Surroundings around() {
        return new Surroundings(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                environment,
                false,
                () -> NOW,
                pauses::add);
    }

    /** The exit code. */
    int run(String command, String... args) {
        out.reset();
        err.reset();
        return CliMain.run(command, args, around());
    }

    /** With the address of this gateway by its name. */
    String out() {
        return out.toString(StandardCharsets.UTF_8).replace(url(), "http://gateway");
    }

    String err() {
        return err.toString(StandardCharsets.UTF_8).replace(url(), "http://gateway");
    }

    /** Since the last call: method, path, body, credentials. */
    List<String> asked() {
        List<String> all = List.copyOf(asked);
        asked.clear();
        return all;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
