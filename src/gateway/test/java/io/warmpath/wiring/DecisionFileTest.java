package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.api.admin.GatewayInstance;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.DecisionLog.Logged;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.modes.Routers;
import io.warmpath.wiring.settings.StartFailure;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DecisionFileTest {
    @TempDir Path folder;
    private final Vertx vertx = Vertx.vertx();

    @AfterEach
    void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private static Logged decision(long number) {
        Worker.Rank rank = new Worker.Rank(0, new WorkerSlot(0));
        Worker worker =
                Worker.builder(1, "w", URI.create("http://w"))
                        .kind(EngineKind.VLLM)
                        .models(Set.of("m"))
                        .blockSize(16)
                        .ranks(List.of(rank))
                        .build();
        RoutingDecision decided =
                Routers.create(
                                RouterOptions.of(RouterMode.KV),
                                new LoadTracker(),
                                () -> new Random(1))
                        .decide(
                                RoutingRequest.builder(
                                                List.of(
                                                        new Candidate(
                                                                worker, 0, new WorkerSlot(0))),
                                                40,
                                                List.of())
                                        .build()
                                        .with(RoutingRequest.Detail.ALL));
        return new Logged(number, Instant.EPOCH, "r" + number, "", "m", decided);
    }

    @Test
    void every_decision_becomes_a_line_and_a_restart_appends() throws Exception {
        Path path = folder.resolve("decisions.jsonl");
        for (int run = 0; run < 2; run++) {
            try (DecisionFile file = new DecisionFile(path, 16)) {
                file.decided(decision(2L * run));
                file.decided(decision(2L * run + 1));
                int lines = 2 * run + 2;
                await().untilAsserted(() -> assertEquals(lines, Files.readAllLines(path).size()));
                assertEquals(0, file.dropped());
            }
        }
        ObjectMapper json = new ObjectMapper();
        List<String> lines = Files.readAllLines(path);
        for (int i = 0; i < 4; i++) {
            assertEquals("r" + i, json.readTree(lines.get(i)).get("request_id").textValue());
        }
    }

    @Test
    void a_restart_begins_a_line_of_its_own_behind_half_a_line() throws Exception {
        Path path = folder.resolve("decisions.jsonl");
        Files.writeString(path, "{\"number\":3,\"ti");
        try (DecisionFile file = new DecisionFile(path, 16)) {
            file.decided(decision(0));
        }
        List<String> lines = Files.readAllLines(path);
        assertEquals("{\"number\":3,\"ti", lines.get(0));
        assertEquals("r0", new ObjectMapper().readTree(lines.get(1)).get("request_id").textValue());
    }

    @Test
    void a_slow_disk_drops_and_counts_and_holds_nobody_up() throws Exception {
        CountDownLatch disk = new CountDownLatch(1);
        OutputStream slow =
                new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        try {
                            disk.await();
                        } catch (InterruptedException e) {
                            throw new IOException(e);
                        }
                    }
                };
        try (DecisionFile file = new DecisionFile(Path.of("slow"), slow, 2)) {
            for (int i = 0; i < 10; i++) {
                file.decided(decision(i));
            }
            assertTrue(file.dropped() >= 7, () -> file.dropped() + " dropped");
            disk.countDown();
        }
    }

    @Test
    void a_broken_disk_is_counted_from_then_on() {
        OutputStream broken =
                new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException("no space left");
                    }
                };
        try (DecisionFile file = new DecisionFile(Path.of("broken"), broken, 2)) {
            file.decided(decision(0));
            await().untilAsserted(
                            () -> {
                                file.decided(decision(1));
                                assertTrue(file.dropped() > 0);
                            });
        }
    }

    @Test
    void a_file_that_cannot_be_written_stops_the_start() {
        String file = folder.resolve("no/such/file").toString();
        assertThrows(
                StartFailure.class, () -> parts(Map.of("warmpath.explain.decisions-file", file)));
        assertThrows(StartFailure.class, () -> parts(Map.of("warmpath.explain.decisions", "-1")));
    }

    private DecisionParts parts(Map<String, String> keys) {
        return new DecisionParts(
                TestConfig.of(keys).explain(),
                vertx,
                new GatewayInstance("i", "0"),
                new SimpleMeterRegistry(),
                null);
    }
}
