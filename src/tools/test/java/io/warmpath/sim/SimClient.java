package io.warmpath.sim;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A plain HTTP client for one engine. */
final class SimClient implements AutoCloseable {
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI engine;

    SimClient(SimEngine engine) {
        this(engine.url());
    }

    SimClient(URI url) {
        this.engine = url;
    }

    HttpResponse<String> post(String path, String body, String... headers)
            throws IOException, InterruptedException {
        return http.send(
                request(path, headers).POST(HttpRequest.BodyPublishers.ofString(body)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http.send(request(path).GET().build(), HttpResponse.BodyHandlers.ofString());
    }

    JsonNode json(String path, String body, String... headers)
            throws IOException, InterruptedException {
        return TestVectors.json(post(path, body, headers).body());
    }

    /** The data of every event of a stream, {@code [DONE]} included. */
    List<String> events(String path, String body) throws IOException, InterruptedException {
        return events(post(path, body).body());
    }

    /** Cancelling it leaves the engine before its answer. */
    CompletableFuture<HttpResponse<String>> later(String path, String body) {
        return http.sendAsync(
                request(path).POST(HttpRequest.BodyPublishers.ofString(body)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** Lines as they come; closing the stream leaves the engine in mid-answer. */
    Stream<String> open(String path, String body) throws IOException, InterruptedException {
        return http.send(
                        request(path).POST(HttpRequest.BodyPublishers.ofString(body)).build(),
                        HttpResponse.BodyHandlers.ofLines())
                .body();
    }

    static List<String> events(String stream) {
        return stream.lines()
                .filter(l -> !l.isEmpty())
                .map(l -> l.substring("data: ".length()))
                .toList();
    }

    private HttpRequest.Builder request(String path, String... headers) {
        HttpRequest.Builder b =
                HttpRequest.newBuilder(engine.resolve(path)).timeout(Duration.ofSeconds(20));
        if (headers.length > 0) {
            b.headers(headers);
        }
        return b;
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
