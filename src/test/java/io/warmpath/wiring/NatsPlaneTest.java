package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.nats.client.Connection;
import io.nats.client.JetStreamManagement;
import io.nats.client.Nats;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway that hears its engines through relays and a stream knows what one knows that reads them
 * itself, whatever was killed in between: server, relays and the gateway are processes of their
 * own. {@code -Dtest.kills=N} kills more often.
 */
@Timeout(600)
class NatsPlaneTest {
    private static final int ROUNDS = Math.max(1, Integer.getInteger("test.kills", 2) / 2);
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Batches that an engine can say again: some more than come while a relay is down. */
    private static final int BUFFER = 40;

    private static final int ROOM = 20;
    private static final int PROMPTS = 24;
    private static final int BLOCKS = 6;

    private final HttpClient client = HttpClient.newHttpClient();
    private final Process[] relays = new Process[2];
    private @TempDir Path folder;
    private NatsServer server;
    private SimGateway twin;
    private Process gateway;
    private URI url = URI.create("http://127.0.0.1");

    @AfterEach
    void stop() throws Exception {
        for (Process p : new Process[] {gateway, relays[0], relays[1]}) {
            if (p != null) {
                p.destroyForcibly().waitFor();
            }
        }
        client.close();
        if (twin != null) {
            twin.close();
        }
        if (server != null) {
            server.close();
        }
    }

    @Test
    void whatever_is_killed_a_gateway_on_the_stream_knows_what_one_on_the_engines_knows()
            throws Exception {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        System.out.println("NatsPlaneTest -Dwarmpath.test.seed=" + seed);
        Random random = new Random(seed);
        engines();
        startGateway();
        compute(random, 100);
        same("at first");
        for (int round = 0; round < ROUNDS; round++) {
            server.kill();
            compute(random, 60);
            server.restart();
            compute(random, 10);
            same("after the server was killed");

            int one = random.nextInt(2);
            relays[one].destroyForcibly().waitFor();
            compute(random, 15);
            startRelay(one);
            compute(random, 10);
            same("after a relay was killed");

            gateway.destroyForcibly().waitFor();
            compute(random, 60); // more than engines could say again
            startGateway();
            compute(random, 10);
            same("after the gateway was killed");
        }
    }

    @Test
    void a_killed_gateway_takes_up_a_shared_snapshot_and_the_rest_of_a_purged_stream()
            throws Exception {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        System.out.println("NatsPlaneTest -Dwarmpath.test.seed=" + seed);
        Random random = new Random(seed);
        String[] often = {"warmpath.state.shared.threshold=25", "warmpath.state.shared.lease=1s"};
        engines();
        startGateway(often);
        Connection nats = Nats.connect(server.url());
        try {
            JetStreamManagement streams = nats.jetStreamManagement();
            String stream = new NatsNames("warmpath", "backend").stream();
            // More has gone from the stream than engines could say again.
            await().atMost(SOON)
                    .until(
                            () -> {
                                compute(random, 20);
                                return streams.getStreamInfo(stream)
                                                .getStreamState()
                                                .getFirstSequence()
                                        > BUFFER;
                            });
        } finally {
            nats.close();
        }
        same("with a purged stream");
        for (int kill = 0; kill < 2 * ROUNDS; kill++) {
            compute(random, random.nextInt(30));
            Thread killer = Thread.ofVirtual().start(gateway::destroyForcibly);
            compute(random, 20);
            killer.join();
            gateway.waitFor();
            compute(random, 30);
            startGateway(often);
            assertTrue(
                    log("gateway").contains("Took up the shared snapshot"), () -> log("gateway"));
            same("after kill " + kill);
        }
    }

    private String log(String of) {
        return JavaChild.log(folder.resolve(of));
    }

    private void engines() throws Exception {
        server = NatsServer.start(folder.resolve("nats"));
        SimOptions.Builder[] engines = new SimOptions.Builder[2];
        for (int i = 0; i < engines.length; i++) {
            engines[i] =
                    SimOptions.builder().bufferSteps(BUFFER).gpuBlocks(ROOM * BLOCKS).speed(1000);
        }
        twin = SimGateway.start(Map.of(), engines);
        startRelay(0);
        startRelay(1);
    }

    private void startRelay(int i) throws IOException {
        SimEngine engine = twin.engines.get(i);
        Process relay =
                JavaChild.start(
                        folder.resolve("relay" + i),
                        Main.class,
                        "relay",
                        "--engine",
                        "tcp://127.0.0.1:" + engine.eventsPort(),
                        "--replay",
                        "tcp://127.0.0.1:" + engine.replayPort(),
                        "--worker",
                        engine.url().toString(),
                        "--nats-servers",
                        server.url());
        relays[i] = relay;
        JavaChild.said(relay, "relaying KV events", folder.resolve("relay" + i));
    }

    private void startGateway(String... more) throws IOException {
        List<String> settings =
                new ArrayList<>(
                        List.of(
                                "warmpath.warmup.requests=0",
                                "warmpath.events.plane=nats",
                                "warmpath.nats.servers=" + server.url(),
                                "warmpath.nats.router-id=child",
                                "warmpath.worker-urls="
                                        + String.join(
                                                ",",
                                                twin.engines.stream()
                                                        .map(e -> e.url().toString())
                                                        .toList())));
        settings.addAll(List.of(more));
        Path log = folder.resolve("gateway");
        gateway = JavaChild.start(log, GatewayChild.class, settings.toArray(String[]::new));
        String port = JavaChild.said(gateway, "port ", log).substring(5);
        url = URI.create("http://127.0.0.1:" + port);
    }

    private static String prompt(int number) {
        StringBuilder ids = new StringBuilder("[");
        for (int i = 0; i < BLOCKS * 16 + 1; i++) {
            ids.append(i == 0 ? "" : ",").append(number * 100 + i % 90);
        }
        return ids.append(']').toString();
    }

    private HttpResponse<String> post(URI to, String json) throws Exception {
        return client.send(
                HttpRequest.newBuilder(to)
                        .timeout(SOON)
                        .header("content-type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(json))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** Engines compute, and tell whoever listens. */
    private void compute(Random random, int requests) throws Exception {
        for (int i = 0; i < requests; i++) {
            URI engine = twin.engines.get(random.nextInt(2)).url();
            HttpResponse<String> answer =
                    post(
                            engine.resolve("/v1/completions"),
                            "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":"
                                    + prompt(random.nextInt(PROMPTS))
                                    + "}");
            assertEquals(200, answer.statusCode(), answer.body());
        }
    }

    private static Map<String, String> sources(String json) throws IOException {
        Map<String, String> sources = new TreeMap<>();
        for (JsonNode s : JSON.readTree(json).get("data")) {
            sources.put(
                    s.get("worker_id").textValue(),
                    s.get("state").textValue() + " " + s.path("sequence").asText());
        }
        return sources;
    }

    /** Both have heard the same batches, trust them, and know the same of every prompt. */
    private void same(String when) throws Exception {
        await(when)
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(
                        () -> {
                            Map<String, String> want = sources(twin.get("/events/sources").body());
                            assertTrue(
                                    want.values().stream().allMatch(s -> s.startsWith("exact")),
                                    want.toString());
                            HttpRequest ask =
                                    HttpRequest.newBuilder(url.resolve("/events/sources")).build();
                            assertEquals(
                                    want,
                                    sources(
                                            client.send(ask, HttpResponse.BodyHandlers.ofString())
                                                    .body()));
                        });
        for (int i = 0; i < PROMPTS; i++) {
            String question = "{\"token_ids\":" + prompt(i) + "}";
            assertEquals(
                    twin.post("/router/overlap_scores", question).body(),
                    post(url.resolve("/router/overlap_scores"), question).body(),
                    when + ": prompt " + i);
        }
    }
}
