package io.warmpath.wiring.warmup;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.FlowMetrics;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** How a warm-up ends. That it takes the real path is {@code WarmStartTest}'s. */
class WarmupTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Vertx VERTX =
            Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setWorkerPoolSize(1));

    @AfterAll
    static void stop() {
        VERTX.close()
                .toCompletionStage()
                .toCompletableFuture()
                .orTimeout(10, TimeUnit.SECONDS)
                .join();
    }

    /** A gateway that does what the test says with every request. */
    private static final class Scripted implements Warmup.Parts {
        private final io.vertx.core.Handler<RoutingContext> script;
        final AtomicInteger asked = new AtomicInteger();
        final AtomicInteger closed = new AtomicInteger();

        Scripted(io.vertx.core.Handler<RoutingContext> script) {
            this.script = script;
        }

        @Override
        public void mount(Router router, Fleet fleet, FlowMetrics metrics) {
            router.route()
                    .handler(
                            rc -> {
                                rc.request().resume();
                                asked.incrementAndGet();
                                script.handle(rc);
                            });
        }

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    private static void ended(Warmup warmup, Scripted parts) {
        await().atMost(SOON).until(warmup::done);
        assertEquals(1, parts.closed.get());
    }

    @Test
    void no_requests_are_done_at_once() {
        Scripted parts = new Scripted(rc -> rc.response().end());
        try (Warmup warmup = new Warmup(VERTX, 0, SOON, "m", parts)) {
            assertFalse(warmup.done());
            warmup.start();
            assertTrue(warmup.done());
            assertEquals(0, parts.asked.get());
            assertEquals(1, parts.closed.get());
        }
    }

    @Test
    void it_is_done_after_its_requests() {
        Scripted parts = new Scripted(rc -> rc.response().end("{}"));
        try (Warmup warmup = new Warmup(VERTX, 9, SOON, "m", parts)) {
            warmup.start();
            ended(warmup, parts);
            assertEquals(9, warmup.answered());
            assertEquals(9, parts.asked.get());
        }
    }

    @Test
    void a_gateway_that_hangs_holds_it_up_no_longer_than_its_time() {
        Scripted parts = new Scripted(rc -> {});
        long began = System.nanoTime();
        try (Warmup warmup = new Warmup(VERTX, 9, Duration.ofMillis(200), "m", parts)) {
            warmup.start();
            ended(warmup, parts);
            assertEquals(0, warmup.answered());
            assertTrue(System.nanoTime() - began >= TimeUnit.MILLISECONDS.toNanos(199));
        }
    }

    @Test
    void a_wrong_answer_ends_it() {
        Scripted parts = new Scripted(rc -> rc.response().setStatusCode(500).end());
        try (Warmup warmup = new Warmup(VERTX, 9, SOON, "m", parts)) {
            warmup.start();
            ended(warmup, parts);
            assertEquals(1, parts.asked.get());
            assertEquals(0, warmup.answered());
        }
    }

    @Test
    void closing_ends_one_that_runs() {
        Scripted parts = new Scripted(rc -> {});
        Warmup warmup = new Warmup(VERTX, 9, Duration.ofMinutes(5), "m", parts);
        warmup.start();
        await().atMost(SOON).until(() -> parts.asked.get() == 1);
        assertFalse(warmup.done());
        warmup.close();
        assertTrue(warmup.done());
        assertEquals(1, parts.closed.get());
    }
}
