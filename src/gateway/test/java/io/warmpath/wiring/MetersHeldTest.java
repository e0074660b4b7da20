package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.wiring.channel.RequestRecords;
import io.warmpath.wiring.control.Announcements;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a meter reads is there as long as the gateway is. A registry holds it weakly: of a method
 * reference that nobody else holds a counter goes on to tell its last value, which is 0.
 */
@Tag("slow")
class MetersHeldTest {
    /** Remembers what its meters read, as weakly as they do. */
    private static final class Watching extends SimpleMeterRegistry {
        private record Read(String meter, WeakReference<Object> what) {}

        private final List<Read> all = new ArrayList<>();

        private void watch(Meter.Id id, Object what) {
            all.add(new Read(id.getName(), new WeakReference<>(what)));
        }

        @Override
        protected <T> Gauge newGauge(Meter.Id id, T obj, ToDoubleFunction<T> value) {
            watch(id, value); // some hold what they read by this
            if (obj != null) {
                watch(id, obj);
            }
            return super.newGauge(id, obj, value);
        }

        @Override
        protected <T> TimeGauge newTimeGauge(
                Meter.Id id, T obj, TimeUnit unit, ToDoubleFunction<T> value) {
            watch(id, obj);
            return super.newTimeGauge(id, obj, unit, value);
        }

        @Override
        protected <T> FunctionCounter newFunctionCounter(
                Meter.Id id, T obj, ToDoubleFunction<T> value) {
            watch(id, obj);
            return super.newFunctionCounter(id, obj, value);
        }

        @Override
        protected <T> FunctionTimer newFunctionTimer(
                Meter.Id id,
                T obj,
                ToLongFunction<T> count,
                ToDoubleFunction<T> total,
                TimeUnit unit) {
            watch(id, obj);
            return super.newFunctionTimer(id, obj, count, total, unit);
        }

        Set<String> collected() {
            Set<String> gone = new TreeSet<>();
            all.stream().filter(r -> r.what().get() == null).forEach(r -> gone.add(r.meter()));
            return gone;
        }
    }

    private static void collectGarbage() {
        WeakReference<Object> canary = new WeakReference<>(new Object());
        await().atMost(Duration.ofSeconds(20))
                .until(
                        () -> {
                            System.gc();
                            return canary.get() == null;
                        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "warmpath.router.predicted-ttl=5s",
                "warmpath.router.use-kv-events=false",
                "warmpath.router.mode=vllm-cache-aware",
                "warmpath.router.mode=round-robin",
                "warmpath.session.pins.enabled=true warmpath.session.affinity-ttl=5m",
                "warmpath.events.plane=nats warmpath.replica.sync=true"
                        + " warmpath.fleet.nats.enabled=true warmpath.nats.servers=nats://127.0.0.1:1"
                        + " warmpath.nats.router-id=g",
                "warmpath.kubernetes.enabled=true warmpath.kubernetes.selector=app=engine"
                        + " warmpath.kubernetes.api-server=https://127.0.0.1:1"
                        + " warmpath.kubernetes.namespace=n",
                "warmpath.kubernetes.inference-pool=llm"
                        + " warmpath.kubernetes.api-server=https://127.0.0.1:1"
                        + " warmpath.kubernetes.namespace=n",
            })
    void what_the_meters_of_a_gateway_read_is_held_by_the_gateway(String settings)
            throws Exception {
        Map<String, String> properties = new HashMap<>();
        for (String setting : settings.isEmpty() ? new String[0] : settings.split(" ")) {
            int at = setting.indexOf('=');
            properties.put(setting.substring(0, at), setting.substring(at + 1));
        }
        properties.put("warmpath.worker-urls", "http://127.0.0.1:1");
        properties.put("warmpath.warmup.requests", "0");
        Watching meters = new Watching();
        Vertx vertx = Vertx.vertx();
        try (GatewayRuntime gateway =
                new GatewayRuntime(
                        TestConfig.of(properties),
                        vertx,
                        meters,
                        Announcements.NONE,
                        RequestRecords.NONE)) {
            gateway.start();
            assertTrue(meters.all.size() > 40, () -> meters.all.size() + " meters");
            collectGarbage();
            assertEquals(Set.of(), meters.collected());
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().get();
        }
    }

    /** The control. */
    @Test
    void what_nobody_holds_is_noticed() {
        Watching meters = new Watching();
        bind(meters, new StringBuilder());
        collectGarbage();
        assertEquals(Set.of("lost"), meters.collected());
    }

    private static void bind(Watching meters, StringBuilder read) {
        FunctionCounter.builder("lost", read, StringBuilder::length).register(meters);
        Gauge.builder("held", () -> 1).register(meters);
    }
}
