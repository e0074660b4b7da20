package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.nats.client.Connection;
import io.nats.client.Nats;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.adapter.nats.Registration;
import io.warmpath.fleet.source.WorkerFields;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.wiring.fleet.FleetRuntime;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A running gateway whose only workers are those that register at NATS: relay and server are
 * processes, and are killed.
 */
@Timeout(300)
@Tag("slow")
class RegistrationTest {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(6);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final NatsNames NAMES = new NatsNames("warmpath", "backend");

    private @TempDir Path folder;
    private NatsServer server;

    /** Reads the engine itself, and owns it. */
    private SimGateway twin;

    private SimEngine engine;
    private SimGateway gateway;
    private ChildJvm relay;

    @BeforeEach
    void start() throws Exception {
        server = NatsServer.start(folder.resolve("nats"));
        twin = SimGateway.start(Map.of(), SimOptions.builder().bufferSteps(100).speed(1000));
        engine = twin.engines.getFirst();
    }

    @AfterEach
    void stop() throws Exception {
        if (relay != null) {
            relay.kill();
        }
        if (gateway != null) {
            gateway.close();
        }
        if (twin != null) {
            twin.close();
        }
        if (server != null) {
            server.close();
        }
    }

    private void gateway(String... more) throws Exception {
        Map<String, String> settings = new HashMap<>();
        settings.put("warmpath.fleet.nats.enabled", "true");
        settings.put("warmpath.events.plane", "nats");
        settings.put("warmpath.nats.servers", server.url());
        settings.put("warmpath.nats.router-id", "g");
        settings.put("warmpath.addresses.allowed", "*, 127.0.0.0/8"); // the engine is here
        for (int i = 0; i < more.length; i += 2) {
            settings.put(more[i], more[i + 1]);
        }
        gateway = SimGateway.start(settings);
    }

    private void relay() throws Exception {
        relay =
                ChildJvm.start(
                        folder.resolve("relay"),
                        "relaying KV events",
                        Main.class,
                        List.of(
                                "relay",
                                "--engine",
                                "tcp://127.0.0.1:" + engine.eventsPort(),
                                "--replay",
                                "tcp://127.0.0.1:" + engine.replayPort(),
                                "--worker",
                                engine.url().toString(),
                                "--register",
                                "--lease",
                                LEASE.toSeconds() + "s",
                                "--field",
                                "weight=2",
                                "--field",
                                "labels=zone=a,rack=7",
                                "--nats-servers",
                                server.url()));
    }

    private JsonNode workers() throws Exception {
        return JSON.readTree(gateway.get("/workers").body()).get("data");
    }

    private JsonNode ready() {
        await().atMost(SOON)
                .until(
                        () ->
                                workers().size() == 1
                                        && workers().get(0).get("state").asText().equals("ready"));
        try {
            return workers().get(0);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void nobody() {
        await().atMost(SOON).until(() -> workers().isEmpty());
    }

    private HttpResponse<String> ask() throws Exception {
        return gateway.post(
                "/v1/completions",
                "{\"model\":\"demo\",\"max_tokens\":1,\"prompt\":\"" + "a b ".repeat(100) + "\"}");
    }

    private String sequence(SimGateway of) throws Exception {
        JsonNode source = JSON.readTree(of.get("/events/sources").body()).get("data").path(0);
        return source.path("state").asText()
                + " "
                + source.path("worker_id").asText()
                + " "
                + source.path("sequence").asText();
    }

    private void outlast(Duration time) {
        long until = System.nanoTime() + time.toNanos();
        await().atMost(SOON).until(() -> System.nanoTime() - until > 0);
    }

    @Test
    void an_engine_comes_with_its_relay_and_goes_with_it() throws Exception {
        gateway();
        assertEquals(503, gateway.get("/ready").statusCode());
        relay();
        JsonNode worker = ready();
        assertEquals("[\"nats\"]", worker.get("sources").toString());
        assertEquals(2, worker.get("weight").asDouble());
        assertEquals("{\"rack\":\"7\",\"zone\":\"a\"}", worker.get("labels").toString());
        String id = worker.get("id").asText();
        assertEquals(Long.toUnsignedString(FleetRuntime.idOfUrl(engine.url().toString())), id);

        // Its events are those of this worker.
        for (int i = 0; i < 3; i++) {
            assertEquals(200, ask().statusCode());
        }
        await().atMost(SOON)
                .untilAsserted(
                        () -> {
                            assertTrue(sequence(twin).startsWith("exact"), sequence(twin));
                            assertEquals(sequence(twin), sequence(gateway));
                        });

        // A relay that is killed and comes back in time changes nothing.
        relay.kill();
        relay();
        outlast(LEASE);
        assertEquals(id, ready().get("id").asText());
        assertEquals(0, gateway.counted("warmpath.registration.expired"));

        // One that stays away: its last write was at most a third of a lease before.
        relay.kill();
        long killed = System.nanoTime();
        nobody();
        assertTrue(System.nanoTime() - killed > LEASE.toNanos() / 2);
        assertEquals(1, gateway.counted("warmpath.registration.expired"));

        // One that is told to stop takes the worker along, at once.
        relay();
        assertEquals(id, ready().get("id").asText());
        relay.process().destroy();
        assertEquals(143, relay.process().waitFor());
        nobody();
        assertEquals(1, gateway.counted("warmpath.registration.expired"));
        assertEquals(0, gateway.gauge("warmpath.registration.workers"));
    }

    @Tag("long")
    @Test
    void without_nats_the_fleet_stays_and_serves() throws Exception {
        gateway();
        relay();
        ready();
        server.kill();
        await().atMost(SOON).until(() -> gateway.gauge("warmpath.registration.following") == 0);
        outlast(LEASE.multipliedBy(2));
        assertEquals(1, workers().size());
        assertEquals(200, ask().statusCode());
        server.restart();
        await().atMost(SOON).until(() -> gateway.gauge("warmpath.registration.following") == 1);
        outlast(LEASE.multipliedBy(2));
        assertEquals("ready", workers().get(0).get("state").asText());
        assertEquals(1, gateway.counted("warmpath.registration.outages"));
        assertEquals(0, gateway.counted("warmpath.registration.expired"));

        // It ends with no server to tell: the lease does it, once there is one again.
        server.kill();
        relay.kill();
        server.restart();
        nobody();
        assertEquals(1, gateway.counted("warmpath.registration.expired"));
    }

    @Test
    void other_sources_stay_what_they_are() throws Exception {
        String url = engine.url().toString();
        gateway("warmpath.workers[0].url", url, "warmpath.workers[0].labels", "of=config");
        try (NatsLink link = NatsLink.open(server.options(), "relay")) {
            Registration registration =
                    new Registration(
                            link,
                            NAMES,
                            WorkerFields.spec(
                                    Map.of(
                                            "url",
                                            url,
                                            "weight",
                                            4,
                                            "labels",
                                            Map.of("of", "nats"))),
                            FleetRuntime.idOfUrl(url),
                            Duration.ofMinutes(5),
                            "1",
                            System::nanoTime);
            await().atMost(SOON).until(() -> ready().get("weight").asDouble() == 4);
            assertEquals("[\"config\",\"nats\"]", ready().get("sources").toString());
            assertEquals("config", ready().get("labels").get("of").asText());

            String name = ready().get("name").asText();
            HttpResponse<String> refused = gateway.patch("/workers/" + name, "{\"weight\":0}");
            assertEquals(400, refused.statusCode());
            assertTrue(refused.body().contains("from 0.01 to 100"), refused.body());
            assertEquals(4, ready().get("weight").asDouble());
            assertEquals(202, gateway.patch("/workers/" + name, "{\"weight\":0.5}").statusCode());
            assertEquals(0.5, ready().get("weight").asDouble());

            Connection c = Nats.connect(server.url());
            try {
                c.keyValue(NAMES.workerBucket())
                        .put("worker.1", "no record".getBytes(StandardCharsets.UTF_8));
            } finally {
                c.close();
            }
            await().atMost(SOON).until(() -> gateway.counted("warmpath.registration.refused") == 1);

            registration.close();
            await().atMost(SOON)
                    .until(() -> ready().get("sources").toString().equals("[\"api\",\"config\"]"));
            assertEquals(200, ask().statusCode());
        }
    }
}
