package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.wiring.channel.RequestRecords;
import io.warmpath.wiring.control.Announcements;
import io.warmpath.wiring.settings.StartFailure;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway that is killed at any instant knows, once it has caught up, what one knows that always
 * ran: real processes, real sockets, engines that evict, and replay buffers that hold a small part
 * of what was said. {@code -Dtest.kills=N} kills more often.
 */
@Tag("slow")
class StateRecoveryTest {
    private static final int KILLS = Integer.getInteger("test.kills", 2);
    private static final Duration SOON = Duration.ofSeconds(30);

    /**
     * Batches that an engine can say again: more than come while a gateway is down, and fewer than
     * it took to fill the cache.
     */
    private static final int BUFFER = 24;

    private @TempDir Path folder;
    private TwinGateway twin;
    private ChildJvm child;

    @AfterEach
    void stop() throws Exception {
        if (child != null) {
            child.kill();
        }
        if (twin != null) {
            twin.close();
        }
    }

    private URI url() {
        return TwinGateway.url(child);
    }

    private void startChild(boolean keeps) throws IOException {
        child =
                twin.other(
                        folder.resolve("log"),
                        keeps
                                ? List.of(
                                        "warmpath.state.directory=" + folder.resolve("state"),
                                        "warmpath.state.interval=20ms")
                                : List.of());
    }

    @Test
    void a_gateway_killed_at_any_instant_knows_what_one_that_always_ran_knows() throws Exception {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        System.out.println("StateRecoveryTest -Dwarmpath.test.seed=" + seed);
        Random random = new Random(seed);
        twin = TwinGateway.start(BUFFER);
        startChild(true);
        twin.awaitCaughtUp(url(), "at first"); // more will be said than could be said again
        twin.compute(random, 150);
        twin.awaitCaughtUp(url(), "with full caches");
        for (int kill = 0; kill < KILLS; kill++) {
            // Batches are coming while it dies, and snapshots are being written all the time.
            twin.compute(random, 5 + random.nextInt(10));
            int micros = random.nextInt(30_000);
            Thread killer =
                    Thread.ofVirtual()
                            .start(
                                    () -> {
                                        try {
                                            TimeUnit.MICROSECONDS.sleep(micros);
                                        } catch (InterruptedException e) {
                                            Thread.currentThread().interrupt();
                                        }
                                        child.kill();
                                    });
            twin.compute(new Random(seed + kill), 10);
            killer.join();
            twin.compute(random, 5);
            startChild(true);
            twin.same(url(), "after kill " + kill);
            twin.compute(random, 20);
            twin.same(url(), "and going on");
        }
        child.kill();
        // The control: without its files a gateway cannot know what the replay no longer has.
        startChild(false);
        await().atMost(SOON)
                .untilAsserted(
                        () ->
                                assertTrue(
                                        twin.known(url())
                                                .toString()
                                                .contains("\"gpu_blocks\":" + TwinGateway.BLOCKS)));
        assertNotEquals(twin.known(), twin.known(url()), "the replay alone would have been enough");
    }

    @Test
    void where_no_events_are_followed_a_state_directory_is_refused() {
        Vertx vertx = Vertx.vertx();
        try {
            StartFailure e =
                    assertThrows(
                            StartFailure.class,
                            () ->
                                    new GatewayRuntime(
                                            TestConfig.of(
                                                    Map.of(
                                                            "warmpath.state.directory",
                                                            folder.toString(),
                                                            "warmpath.router.use-kv-events",
                                                            "false")),
                                            vertx,
                                            new SimpleMeterRegistry(),
                                            Announcements.NONE,
                                            RequestRecords.NONE));
            assertTrue(
                    String.valueOf(e.getMessage()).contains("follows no KV events"),
                    e.getMessage());
            e =
                    assertThrows(
                            StartFailure.class,
                            () ->
                                    new GatewayRuntime(
                                            TestConfig.of(
                                                    Map.of(
                                                            "warmpath.state.directory",
                                                            folder.toString(),
                                                            "warmpath.index.implementation",
                                                            "java")),
                                            vertx,
                                            new SimpleMeterRegistry(),
                                            Announcements.NONE,
                                            RequestRecords.NONE));
            assertTrue(
                    String.valueOf(e.getMessage()).contains("needs the native index"),
                    e.getMessage());
            e =
                    assertThrows(
                            StartFailure.class,
                            () ->
                                    new GatewayRuntime(
                                            TestConfig.of(
                                                    Map.of(
                                                            "warmpath.state.directory",
                                                            folder.toString(),
                                                            "warmpath.events.plane",
                                                            "nats")),
                                            vertx,
                                            new SimpleMeterRegistry(),
                                            Announcements.NONE,
                                            RequestRecords.NONE));
            assertTrue(
                    String.valueOf(e.getMessage()).contains("lie in NATS' object store"),
                    e.getMessage());
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }
}
