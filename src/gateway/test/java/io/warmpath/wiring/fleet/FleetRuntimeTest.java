package io.warmpath.wiring.fleet;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerSpecBuilder;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.fleet.source.FleetSource;
import io.warmpath.fleet.source.SourceName;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.SlotCredits;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.telemetry.PressureMeters;
import io.warmpath.upstream.tls.EngineTls;
import io.warmpath.wiring.GatewayMeters;
import io.warmpath.wiring.TestConfig;
import io.warmpath.wiring.TestEngine;
import io.warmpath.wiring.TestFeed;
import io.warmpath.wiring.settings.AddressSetup;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The fleet with real HTTP and its own thread, over an engine that comes and goes. */
class FleetRuntimeTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private final Vertx vertx = Vertx.vertx();
    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final LoadTracker load = new LoadTracker();
    private final TestFeed feed = new TestFeed();
    private final TestEngine engine = TestEngine.sglang();
    private FleetRuntime runtime;

    private FleetRuntime start(Map<String, String> more) {
        Map<String, String> properties = new HashMap<>(more);
        properties.put("warmpath.fleet.health-interval", "50ms");
        properties.put("warmpath.fleet.unhealthy-interval", "20ms");
        properties.put("warmpath.fleet.health-timeout", "5s");
        properties.putIfAbsent("warmpath.worker-urls", engine.url());
        runtime =
                new FleetRuntime(
                        TestConfig.of(properties),
                        vertx,
                        EngineTls.standard(),
                        new SignsOfLife(),
                        AddressSetup.guard(TestConfig.of(properties).addresses()),
                        index,
                        feed,
                        new SlotCredits(),
                        source -> null,
                        load,
                        () -> false);
        runtime.start();
        return runtime;
    }

    @AfterEach
    void stop() {
        if (runtime != null) {
            runtime.close();
        }
        engine.close();
        vertx.close().toCompletionStage().toCompletableFuture().join();
        assertEquals(0, index.stats().slots(), "closing frees every slot");
        assertEquals(List.of(), feed.open(), "closing ends every subscription");
    }

    private WorkerStatus status() {
        return runtime.registry().status().get(0);
    }

    private void awaitState(WorkerState state) {
        await().atMost(SOON).until(() -> status().worker().state() == state);
    }

    private WorkerSlot slot() {
        return status().worker().ranks().get(0).slot();
    }

    @Test
    void loads_that_are_only_shown_are_asked_for_less_often() {
        boolean[] guarding = new boolean[1];
        for (String mode : List.of("round-robin", "random", "direct")) {
            LongSupplier interval = loadInterval(mode, guarding);
            assertEquals(Duration.ofSeconds(10).toNanos(), interval.getAsLong(), mode);
            guarding[0] = true;
            assertEquals(Duration.ofSeconds(2).toNanos(), interval.getAsLong(), mode);
            guarding[0] = false;
        }
        for (String mode : List.of("kv", "power-of-two", "least-loaded", "vllm-cache-aware")) {
            LongSupplier interval = loadInterval(mode, guarding);
            assertEquals(Duration.ofSeconds(2).toNanos(), interval.getAsLong(), mode);
        }
    }

    private static LongSupplier loadInterval(String mode, boolean[] guarding) {
        return FleetRuntime.loadInterval(
                TestConfig.of(Map.of("warmpath.router.mode", mode)), () -> guarding[0]);
    }

    @Test
    void a_worker_is_learnt_and_its_events_are_subscribed() {
        start(Map.of());
        awaitState(WorkerState.READY);
        assertEquals(EngineKind.SGLANG, status().worker().kind());
        assertEquals(16, status().worker().blockSize());
        await().atMost(SOON).until(() -> feed.open().size() == 1);
        assertEquals(
                new EventSource(
                        "w0",
                        0,
                        List.of(slot()),
                        EngineRanks.of(1),
                        "tcp://127.0.0.1:5657",
                        false,
                        "tcp://127.0.0.1:5658",
                        "kv-events",
                        16,
                        status().worker().id(),
                        feed.open().get(0).tagged()),
                feed.open().get(0));
        assertTrue(runtime.registry().snapshot().knows("tiny"));
    }

    @Test
    void a_worker_that_restarts_gets_new_slots_and_a_new_subscription() {
        start(Map.of());
        awaitState(WorkerState.READY);
        await().atMost(SOON).until(() -> feed.open().size() == 1);
        WorkerSlot before = slot();
        engine.stop();
        runtime.registry().reportFailure(status().worker().id());
        awaitState(WorkerState.UNHEALTHY);
        engine.startAgain();
        awaitState(WorkerState.READY);
        await().atMost(SOON).until(() -> feed.closed.size() == 1 && feed.open().size() == 1);
        assertNotEquals(before, slot());
        assertEquals(List.of(before), feed.closed.get(0).slots());
        assertEquals(List.of(slot()), feed.open().get(0).slots());
        assertEquals(1, runtime.registry().restarts());
    }

    @Test
    void a_busy_worker_keeps_its_slots_and_subscription() {
        start(Map.of());
        awaitState(WorkerState.READY);
        WorkerSlot before = slot();
        engine.health(503);
        awaitState(WorkerState.UNHEALTHY);
        engine.health(200);
        awaitState(WorkerState.READY);
        assertEquals(before, slot());
        assertEquals(List.of(), feed.closed);
    }

    @Test
    void a_name_is_free_for_the_next_worker_when_its_last_one_has_drained() {
        try (TestEngine next = TestEngine.sglang()) {
            start(Map.of("warmpath.worker-urls", ""));
            FleetSource.Feed pods = runtime.sources().feed(SourceName.KUBERNETES);
            pods.put("sglang-0/a", named("sglang-0", engine.url()));
            awaitState(WorkerState.READY);
            // One lock, so that the first cannot be gone before the second is told.
            synchronized (runtime.registry()) {
                pods.remove("sglang-0/a");
                pods.put("sglang-0/b", named("sglang-0", next.url()));
                assertEquals(1, runtime.sources().problems().size());
            }
            await().atMost(SOON).until(() -> status().worker().url().toString().equals(next.url()));
            assertEquals(Map.of(), runtime.sources().problems());
        }
    }

    private static WorkerSpec named(String name, String url) {
        return new WorkerSpecBuilder(WorkerSpec.parse(url)).name(name).build();
    }

    @Test
    void an_engine_that_starts_late_is_found() {
        engine.stop();
        start(Map.of());
        await().atMost(SOON).until(() -> runtime.monitor().failedProbes() > 0);
        assertEquals(WorkerState.STARTING, status().worker().state());
        engine.startAgain();
        awaitState(WorkerState.READY);
    }

    @Test
    void a_subscription_that_fails_leaves_the_worker_routed_by_load() {
        start(
                Map.of(
                        "warmpath.worker-urls",
                        "",
                        "warmpath.workers[0].url",
                        engine.url(),
                        "warmpath.workers[0].name",
                        "named",
                        "warmpath.workers[0].events-endpoint",
                        "tcp://refuse:1"));
        awaitState(WorkerState.READY);
        await().atMost(SOON).until(() -> runtime.subscriptions().failures() == 1);
        assertEquals(1, runtime.registry().snapshot().candidates("tiny").size());
        assertEquals(0, runtime.subscriptions().open());
    }

    @Test
    void meters_follow_the_fleet() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        start(Map.of());
        GatewayMeters.bind(
                meters,
                index,
                load,
                runtime,
                new EventCounters(),
                TestConfig.noTokens(),
                null,
                router(CostKind.LATENCY));
        awaitState(WorkerState.READY);
        try (LoadBook.Booking booking = load.book(slot(), 100, 7)) {
            await().atMost(SOON)
                    .untilAsserted(
                            () -> {
                                assertEquals(1, value(meters, "workers", "state", "ready"));
                                assertEquals(1, value(meters, "worker.up", "worker", "w0"));
                                assertEquals(1, rank(meters, "worker.requests"));
                                assertEquals(100, rank(meters, "worker.prefill.tokens"));
                                assertEquals(7, rank(meters, "worker.blocks"));
                                assertEquals(1, value(meters, "events.sources", "state", "exact"));
                                assertEquals(0, value(meters, "events.sources", "state", "gone"));
                                assertEquals(1, value(meters, "index.slots"));
                                assertEquals(1, value(meters, "bookings.open"));
                                assertEquals(0, value(meters, "fleet.pressure", "model", "tiny"));
                            });
            booking.firstToken();
        }
        runtime.registry().drain(status().worker().id());
        await().atMost(SOON).until(() -> meters.find("warmpath.worker.up").gauge() == null);
        assertEquals(0, value(meters, "workers", "state", "ready"));
        assertNull(meters.find("warmpath.fleet.pressure").gauge(), "nobody is there to be pressed");
    }

    @Test
    void a_router_that_keeps_no_speeds_has_no_pressure() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        start(Map.of());
        awaitState(WorkerState.READY);
        PressureMeters.bind(meters, runtime.registry(), router(CostKind.BLOCKS));
        assertNull(meters.find("warmpath.fleet.pressure").gauge());
        PressureMeters.bind(meters, runtime.registry(), router(CostKind.LATENCY));
        assertEquals(0, value(meters, "fleet.pressure", "model", "tiny"));
    }

    private Router router(CostKind cost) {
        return Routers.create(
                RouterOptions.of(RouterMode.KV).with(cost, LatencyPriors.DEFAULT),
                load,
                ThreadLocalRandom::current);
    }

    private static double value(MeterRegistry meters, String name, String... tags) {
        return meters.get("warmpath." + name).tags(tags).gauge().value();
    }

    private static double rank(MeterRegistry meters, String name) {
        return value(meters, name, "worker", "w0", "rank", "0");
    }
}
