package io.warmpath.wiring.warmup;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.observe.FlowMetrics;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** How a warm-up ends. That it takes the real path is {@code WarmupPathTest}'s. */
class WarmupTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Warmup.Target TARGET = new Warmup.Target("m", EngineKind.OPENAI);
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
        try (Warmup warmup = new Warmup(VERTX, 0, SOON, TARGET, () -> 0, parts)) {
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
        try (Warmup warmup = new Warmup(VERTX, 9, SOON, TARGET, () -> 0, parts)) {
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
        try (Warmup warmup = new Warmup(VERTX, 9, Duration.ofMillis(200), TARGET, () -> 0, parts)) {
            warmup.start();
            ended(warmup, parts);
            assertEquals(0, warmup.answered());
            assertTrue(System.nanoTime() - began >= TimeUnit.MILLISECONDS.toNanos(199));
        }
    }

    @Test
    void a_wrong_answer_ends_it() {
        Scripted parts = new Scripted(rc -> rc.response().setStatusCode(500).end());
        try (Warmup warmup = new Warmup(VERTX, 9, SOON, TARGET, () -> 0, parts)) {
            warmup.start();
            ended(warmup, parts);
            assertEquals(1, parts.asked.get());
            assertEquals(0, warmup.answered());
        }
    }

    @Test
    void closing_ends_one_that_runs() {
        Scripted parts = new Scripted(rc -> {});
        Warmup warmup = new Warmup(VERTX, 9, Duration.ofMinutes(5), TARGET, () -> 0, parts);
        warmup.start();
        await().atMost(SOON).until(() -> parts.asked.get() == 1);
        assertFalse(warmup.done());
        warmup.close();
        assertTrue(warmup.done());
        assertEquals(1, parts.closed.get());
    }

    /** What every tenth request is, is refused. */
    private static void asARealOne(RoutingContext rc) {
        rc.request()
                .body()
                .onSuccess(
                        body -> {
                            String text = body.toString();
                            int status =
                                    !text.endsWith("}") ? 400 : text.contains("nobody") ? 404 : 200;
                            rc.response().setStatusCode(status).end("{}");
                        });
    }

    @Test
    void it_goes_on_until_the_compilers_are_calm() {
        AtomicLong compiled = new AtomicLong();
        Scripted parts = new Scripted(WarmupTest::asARealOne);
        // Seven looks, two a round: the first three rounds are full of compiling.
        LongSupplier compilers =
                () -> compiled.incrementAndGet() <= 7 ? compiled.get() * 1_000_000 : 7_000_000;
        try (Warmup warmup = new Warmup(VERTX, 9, SOON, TARGET, compilers, parts)) {
            warmup.start();
            ended(warmup, parts);
            assertEquals(9 + 3 * 100, warmup.answered());
        }
    }

    @Test
    void compilers_that_never_rest_hold_it_up_no_longer_than_its_time() {
        AtomicLong compiled = new AtomicLong();
        Scripted parts = new Scripted(WarmupTest::asARealOne);
        LongSupplier compilers = () -> compiled.addAndGet(1_000_000);
        try (Warmup warmup =
                new Warmup(VERTX, 9, Duration.ofMillis(300), TARGET, compilers, parts)) {
            warmup.start();
            ended(warmup, parts);
            assertTrue(warmup.answered() >= 9);
        }
    }
}
