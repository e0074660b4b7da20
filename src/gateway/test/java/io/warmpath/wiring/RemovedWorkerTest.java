package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.sim.SimOptions;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An engine hangs under requests, and whoever knows of workers takes it away: all of them end. */
@Tag("slow")
class RemovedWorkerTest {
    private static final int REQUESTS = 16;

    /** Its checks fail while it drains; it leaves before they do. */
    @ParameterizedTest
    @ValueSource(strings = {"60s", "0s"})
    void the_requests_of_a_worker_that_hangs_and_is_removed_end(String drainTimeout)
            throws Exception {
        SimOptions.Builder[] engines = new SimOptions.Builder[2];
        for (int i = 0; i < engines.length; i++) {
            engines[i] =
                    SimOptions.builder()
                            .maxBatch(REQUESTS)
                            .answerTokens(60)
                            .interToken(Duration.ofMillis(20))
                            .seed(5);
        }
        SimGateway gateway =
                SimGateway.start(
                        Map.of(
                                "warmpath.fleet.health-interval", "100ms",
                                "warmpath.fleet.unhealthy-interval", "100ms",
                                "warmpath.fleet.health-timeout", "300ms",
                                "warmpath.fleet.drain-timeout", drainTimeout,
                                "warmpath.retry.budget-per-second", "100",
                                "warmpath.health.silence", "300ms"),
                        engines);
        boolean ends = drainTimeout.equals("0s"); // whole answers, too: nobody asks for it any more
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
                HttpClient control = HttpClient.newHttpClient()) {
            URI first = gateway.engines.getFirst().url();
            List<Future<HttpResponse<String>>> running = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                boolean stream = !ends || i % 2 == 0;
                String body =
                        "{\"model\":\"demo\",\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"Say %s.\"}]}"
                                .formatted(stream, i);
                running.add(clients.submit(() -> gateway.post("/v1/chat/completions", body)));
            }
            await().until(() -> gateway.engines.getFirst().stats().requests() > 2);
            control(control, first.resolve("/sim/stop"));
            assertEquals(202, gateway.delete("/workers/w0").statusCode());
            for (Future<HttpResponse<String>> one : running) {
                HttpResponse<String> answer = one.get(15, TimeUnit.SECONDS);
                assertEquals(200, answer.statusCode(), answer.body());
                assertTrue(
                        answer.body().endsWith("data: [DONE]\n\n")
                                || answer.body().contains("\"finish_reason\":\"length\"")
                                || answer.body().contains("\"finish_reason\":\"stop\""),
                        answer.body());
            }
            await().until(() -> !gateway.get("/workers").body().contains("\"w0\""));
            control(control, first.resolve("/sim/stop?on=0"));
        } finally {
            gateway.close();
        }
    }

    private static void control(HttpClient client, URI url) throws Exception {
        client.send(HttpRequest.newBuilder(url).build(), HttpResponse.BodyHandlers.discarding());
    }
}
