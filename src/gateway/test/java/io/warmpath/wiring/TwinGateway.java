package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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

/**
 * Two engines that evict, and a gateway that always runs and hears them itself: what a gateway in a
 * process of its own must know, whatever has become of it in between. One thread.
 */
final class TwinGateway {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final ObjectMapper JSON = new ObjectMapper();

    static final int BLOCKS = 6;

    /** Prompts that an engine holds at once, of {@link #PROMPTS}. */
    private static final int ROOM = 20;

    private static final int PROMPTS = 24;

    private final HttpClient client = HttpClient.newHttpClient();
    private final SimGateway twin;

    private TwinGateway(SimGateway twin) {
        this.twin = twin;
    }

    /**
     * @param buffer batches that an engine can say again
     */
    static TwinGateway start(int buffer) throws Exception {
        SimOptions.Builder[] engines = new SimOptions.Builder[2];
        for (int i = 0; i < engines.length; i++) {
            engines[i] =
                    SimOptions.builder().bufferSteps(buffer).gpuBlocks(ROOM * BLOCKS).speed(1000);
        }
        return new TwinGateway(SimGateway.start(Map.of(), engines));
    }

    /**
     * The other gateway.
     *
     * @param log of its process; overwritten
     */
    ChildJvm other(Path log, List<String> settings) throws IOException {
        List<String> all = new ArrayList<>(settings);
        all.add("warmpath.warmup.requests=0");
        all.add(
                "warmpath.worker-urls="
                        + String.join(
                                ",", twin.engines.stream().map(e -> e.url().toString()).toList()));
        return ChildJvm.start(log, "port ", GatewayChild.class, all);
    }

    /** A relay beside one of the engines. */
    ChildJvm relay(Path log, int engine, String nats) throws IOException {
        SimEngine of = twin.engines.get(engine);
        return ChildJvm.start(
                log,
                "relaying KV events",
                Main.class,
                List.of(
                        "relay",
                        "--engine",
                        "tcp://127.0.0.1:" + of.eventsPort(),
                        "--replay",
                        "tcp://127.0.0.1:" + of.replayPort(),
                        "--worker",
                        of.url().toString(),
                        "--nats-servers",
                        nats));
    }

    /** Where a gateway that {@link #other} has started listens. */
    static URI url(ChildJvm gateway) {
        return URI.create("http://127.0.0.1:" + gateway.said().substring("port ".length()));
    }

    /** Engines compute, and tell whoever listens. */
    void compute(Random random, int requests) throws Exception {
        for (int i = 0; i < requests; i++) {
            int number = random.nextInt(PROMPTS);
            URI engine = twin.engines.get(random.nextInt(2)).url();
            HttpResponse<String> answer =
                    post(
                            engine.resolve("/v1/completions"),
                            "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":"
                                    + prompt(number)
                                    + salt(number)
                                    + "}");
            assertEquals(200, answer.statusCode(), answer.body());
        }
    }

    private static String prompt(int number) {
        StringBuilder ids = new StringBuilder("[");
        for (int i = 0; i < BLOCKS * 16 + 1; i++) {
            ids.append(i == 0 ? "" : ",").append(number * 100 + i % 90);
        }
        return ids.append(']').toString();
    }

    /** Every fourth prompt lies in a space of its own. */
    private static String salt(int number) {
        return number % 4 == 0 ? ",\"cache_salt\":\"tenant-" + number + "\"" : "";
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

    private JsonNode get(URI from) throws Exception {
        return JSON.readTree(
                client.send(
                                HttpRequest.newBuilder(from).timeout(SOON).build(),
                                HttpResponse.BodyHandlers.ofString())
                        .body());
    }

    /** Both have heard all that the engines have said, and trust it. */
    void awaitCaughtUp(URI other, String when) {
        await(when)
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(
                        () -> {
                            Map<String, String> want =
                                    sources(JSON.readTree(twin.get("/events/sources").body()));
                            // An engine may tell what it stored after it has answered.
                            assertEquals(newest(), want.values().stream().sorted().toList());
                            assertEquals(want, sources(get(other.resolve("/events/sources"))));
                        });
    }

    /** Worker's state and newest batch, by worker id. */
    private static Map<String, String> sources(JsonNode said) {
        Map<String, String> sources = new TreeMap<>();
        for (JsonNode s : said.get("data")) {
            sources.put(
                    s.get("worker_id").textValue(),
                    s.get("state").textValue() + " " + s.path("sequence").asText());
        }
        return sources;
    }

    /** What sources are like that have all that the engines have said. */
    private List<String> newest() throws Exception {
        List<String> all = new ArrayList<>();
        for (SimEngine engine : twin.engines) {
            JsonNode rank = get(engine.url().resolve("/sim/stats")).at("/ranks/0");
            assertEquals(0, rank.get("running").asInt() + rank.get("waiting").asInt());
            long published = rank.get("published_batches").asLong();
            all.add("exact " + (published == 0 ? "" : published - 1));
        }
        all.sort(null);
        return all;
    }

    /** {@link #awaitCaughtUp}, and what they know of every prompt is the same. */
    void same(URI other, String when) throws Exception {
        awaitCaughtUp(other, when);
        assertEquals(known(), known(other), when);
    }

    /** Per prompt and worker the depths that this one knows. */
    List<String> known() throws Exception {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < PROMPTS; i++) {
            all.add(whole(twin.post("/router/overlap_scores", question(i))));
        }
        return all;
    }

    /** The same of another gateway. */
    List<String> known(URI other) throws Exception {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < PROMPTS; i++) {
            all.add(whole(post(other.resolve("/router/overlap_scores"), question(i))));
        }
        return all;
    }

    private static String question(int number) {
        return "{\"token_ids\":" + prompt(number) + salt(number) + "}";
    }

    private static String whole(HttpResponse<String> answer) {
        assertEquals(200, answer.statusCode(), answer.body());
        return answer.body();
    }

    void close() throws Exception {
        client.close();
        twin.close();
    }
}
