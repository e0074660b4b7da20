package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.Router;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.model.SimTokenizer;
import io.warmpath.wiring.channel.RequestRecords;
import io.warmpath.wiring.control.Announcements;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The whole gateway in front of simulated engines, over plain Vert.x. Closing it checks that
 * nothing is left booked.
 */
public final class SimGateway {
    private static final Duration SOON = Duration.ofSeconds(20);

    final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    final List<SimEngine> engines = new ArrayList<>();
    private final HttpClient client = HttpClient.newHttpClient();
    private final List<AutoCloseable> open = new ArrayList<>();
    private URI url = URI.create("http://127.0.0.1");

    private Runnable leaving = () -> {};

    private SimGateway() {}

    /** As after a signal to stop. */
    void leaving() {
        leaving.run();
    }

    /**
     * Returns when all engines get requests, and those of {@code settings} ({@code
     * warmpath.workers[0].url}), too.
     */
    public static SimGateway start(Map<String, String> settings, SimOptions.Builder... engines)
            throws Exception {
        return started(settings, List.of(), engines);
    }

    /** Another gateway before the same engines, which must outlive it. */
    static SimGateway beside(SimGateway other, Map<String, String> settings) throws Exception {
        return started(settings, other.engines);
    }

    private static SimGateway started(
            Map<String, String> settings, List<SimEngine> there, SimOptions.Builder... engines)
            throws Exception {
        SimGateway started = new SimGateway();
        try {
            started.engines.addAll(there);
            started.open(settings, engines);
            return started;
        } catch (Exception e) {
            started.end();
            throw e;
        }
    }

    private void open(Map<String, String> settings, SimOptions.Builder... options)
            throws Exception {
        open.add(client);
        Vertx vertx = Vertx.vertx();
        open.add(() -> vertx.close().toCompletionStage().toCompletableFuture().get());
        SimTokenizer tokenizer = SimTokenizer.demo();
        open.add(tokenizer);
        for (SimOptions.Builder o : options) {
            SimEngine engine = SimEngine.start(o.build(), tokenizer);
            open.add(engine);
            engines.add(engine);
        }
        Map<String, String> properties = new HashMap<>(settings);
        properties.put(
                "warmpath.worker-urls",
                String.join(",", engines.stream().map(e -> e.url().toString()).toList()));
        properties.put("warmpath.warmup.requests", "0");
        // What one gateway sends is load from outside for the other, and none when they are done.
        properties.putIfAbsent("warmpath.health.load-interval", "0");
        long workers =
                engines.size()
                        + settings.keySet().stream().filter(k -> k.endsWith("].url")).count();
        GatewayRuntime gateway =
                new GatewayRuntime(
                        TestConfig.of(properties),
                        vertx,
                        meters,
                        Announcements.NONE,
                        RequestRecords.NONE);
        open.add(gateway);
        leaving = gateway::leaving;
        Router router = Router.router(vertx);
        gateway.routes().mount(router);
        AdminPartsRoute.mount(router, gateway);
        gateway.start();
        HttpServer server =
                vertx.createHttpServer(
                                new HttpServerOptions()
                                        .setHost("127.0.0.1")
                                        .setPort(0)
                                        .setMaxChunkSize(64 << 10)
                                        .setHttp2ClearTextEnabled(false))
                        .requestHandler(
                                request -> {
                                    request.pause(); // as Quarkus does
                                    router.handle(request);
                                })
                        .listen()
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS);
        url = URI.create("http://127.0.0.1:" + server.actualPort());
        await().atMost(SOON)
                .until(() -> get("/workers").body().split("\"ready\"", -1).length == workers + 1);
    }

    /**
     * @param headers names and values in turn
     */
    public HttpResponse<String> get(String path, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(url.resolve(path));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(request);
    }

    HttpResponse<String> delete(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(url.resolve(path)).DELETE());
    }

    /**
     * @param headers names and values in turn
     */
    public HttpResponse<String> post(String path, String json, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(url.resolve(path))
                        .POST(HttpRequest.BodyPublishers.ofString(json));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(request);
    }

    HttpResponse<String> patch(String path, String json) throws IOException, InterruptedException {
        return send(
                HttpRequest.newBuilder(url.resolve(path))
                        .header("content-type", "application/json")
                        .method("PATCH", HttpRequest.BodyPublishers.ofString(json)));
    }

    private HttpResponse<String> send(HttpRequest.Builder request)
            throws IOException, InterruptedException {
        return client.send(request.timeout(SOON).build(), HttpResponse.BodyHandlers.ofString());
    }

    URI url() {
        return url;
    }

    double gauge(String name) {
        return meters.get(name).gauge().value();
    }

    double counted(String name) {
        return meters.get(name).functionCounter().count();
    }

    /** Nothing is booked, and no rank has any load. */
    private void assertNothingIsBooked() {
        await().atMost(SOON).untilAsserted(() -> assertEquals(0, gauge("warmpath.bookings.open")));
        for (String load : List.of("requests", "prefill.tokens", "blocks")) {
            for (Gauge rank : meters.find("warmpath.worker." + load).gauges()) {
                assertEquals(0, rank.value(), () -> rank.getId().toString());
            }
        }
        assertEquals(0, counted("warmpath.bookings.expired"));
    }

    public void close() throws Exception {
        try {
            assertNothingIsBooked();
        } finally {
            end();
        }
    }

    private void end() throws Exception {
        for (AutoCloseable c : open.reversed()) {
            c.close();
        }
    }
}
