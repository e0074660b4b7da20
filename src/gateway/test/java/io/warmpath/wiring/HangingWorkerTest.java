package io.warmpath.wiring;

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
import org.junit.jupiter.api.Test;

/** An engine hangs under streams, as one that was sent SIGSTOP: they end elsewhere, and soon. */
@Tag("slow")
class HangingWorkerTest {
    private static final int STREAMS = 12;

    @Test
    void the_streams_of_a_worker_that_hangs_end_long_before_their_time_outs() throws Exception {
        SimOptions.Builder[] engines = new SimOptions.Builder[3];
        for (int i = 0; i < engines.length; i++) {
            engines[i] =
                    SimOptions.builder()
                            .maxBatch(STREAMS)
                            .answerTokens(60)
                            .interToken(Duration.ofMillis(20))
                            .seed(5);
        }
        SimGateway gateway =
                SimGateway.start(
                        Map.of(
                                "warmpath.fleet.health-interval", "100ms",
                                "warmpath.fleet.health-timeout", "300ms",
                                "warmpath.health.silence", "300ms"),
                        engines);
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
                HttpClient control = HttpClient.newHttpClient()) {
            List<String> calm = texts(streams(gateway, clients));
            List<Future<String>> disturbed = streams(gateway, clients);
            control(control, gateway.engines.getFirst().url().resolve("/sim/stop"));
            assertEquals(calm, texts(disturbed));
            double left =
                    gateway.meters.counter("warmpath.retries", "cause", "timeout").count()
                            + gateway.meters
                                    .counter(
                                            "warmpath.migrations",
                                            "result",
                                            "completed",
                                            "reason",
                                            "stalled")
                                    .count();
            assertTrue(left > 0, "nobody was on the worker that hung");
            control(control, gateway.engines.getFirst().url().resolve("/sim/stop?on=0"));
        } finally {
            gateway.close();
        }
    }

    private static void control(HttpClient client, URI url) throws Exception {
        client.send(HttpRequest.newBuilder(url).build(), HttpResponse.BodyHandlers.discarding());
    }

    private static List<Future<String>> streams(SimGateway gateway, ExecutorService clients) {
        List<Future<String>> running = new ArrayList<>();
        for (int i = 0; i < STREAMS; i++) {
            String body =
                    "{\"model\":\"demo\",\"stream\":true,\"messages\":[{\"role\":\"user\","
                            + "\"content\":\"Say something about number "
                            + i
                            + ".\"}]}";
            running.add(clients.submit(() -> text(gateway.post("/v1/chat/completions", body))));
        }
        return running;
    }

    /** What the events say, one after the other. */
    private static String text(HttpResponse<String> answer) {
        assertEquals(200, answer.statusCode(), answer.body());
        assertTrue(answer.body().endsWith("data: [DONE]\n\n"), answer.body());
        StringBuilder text = new StringBuilder();
        answer.body()
                .lines()
                .filter(l -> l.contains("\"content\":\""))
                .forEach(l -> text.append(l.replaceAll(".*\"content\":\"([^\"]*)\".*", "$1")));
        return text.toString();
    }

    private static List<String> texts(List<Future<String>> running) throws Exception {
        List<String> texts = new ArrayList<>();
        for (Future<String> f : running) {
            texts.add(f.get(30, TimeUnit.SECONDS));
        }
        return texts;
    }
}
