package io.warmpath.wiring.warmup;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.ext.web.Router;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.prefix.WorkerSlot;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** When the two warm-ups run, and what for. */
class WarmStartTest {
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Warmup.Target KNOWN = new Warmup.Target("any", EngineKind.OPENAI);
    private static final Vertx VERTX =
            Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setWorkerPoolSize(1));

    private final List<Warmup.Target> begun = new CopyOnWriteArrayList<>();

    @AfterAll
    static void stop() {
        VERTX.close()
                .toCompletionStage()
                .toCompletableFuture()
                .orTimeout(10, TimeUnit.SECONDS)
                .join();
    }

    private WarmStart start(Duration patience) {
        WarmStart start = new WarmStart(this::warmup, KNOWN, patience);
        start.start();
        await().atMost(SOON).until(() -> start.first().done());
        return start;
    }

    private Warmup warmup(Warmup.Target target) {
        return warmup(target, 1);
    }

    private Warmup warmup(Warmup.Target target, int requests) {
        return new Warmup(VERTX, requests, SOON, target, () -> 0, new Noting(target));
    }

    /** Answers everything, and notes whose requests came. */
    private final class Noting implements Warmup.Parts {
        private final Warmup.Target target;

        Noting(Warmup.Target target) {
            this.target = target;
        }

        @Override
        public void mount(Router router, Fleet fleet, FlowMetrics metrics) {
            assertEquals(target.kind(), fleet.snapshot().workers().getFirst().kind());
            router.route()
                    .handler(
                            rc -> {
                                rc.request().resume();
                                begun.add(target);
                                rc.response().end("{}");
                            });
        }

        @Override
        public void close() {}
    }

    private static Worker worker(WorkerState state, EngineKind kind, String... models) {
        return Worker.builder(1, "w", URI.create("http://w"))
                .kind(kind)
                .models(Set.of(models))
                .blockSize(16)
                .state(state)
                .ranks(List.of(new Worker.Rank(0, new WorkerSlot(0))))
                .build();
    }

    @Test
    void the_second_one_is_for_the_first_engine_and_comes_when_its_tokens_are_settled() {
        try (WarmStart start = start(LONG)) {
            assertEquals(List.of(KNOWN), begun);
            await().atMost(SOON).until(start::warmSoFar);
            start.added(worker(WorkerState.STARTING, EngineKind.SGLANG));
            assertTrue(start.warmSoFar());
            start.settled(worker(WorkerState.STARTING, EngineKind.SGLANG));
            Worker ready = worker(WorkerState.READY, EngineKind.SGLANG, "tiny", "other");
            start.changed(ready, ready, "");
            assertFalse(start.warm());
            assertFalse(start.warmSoFar());
            start.settled(ready);
            start.settled(worker(WorkerState.READY, EngineKind.VLLM, "late"));
            await().atMost(SOON).until(start::warm);
            assertEquals(List.of(KNOWN, new Warmup.Target("other", EngineKind.SGLANG)), begun);
        }
    }

    @Test
    void an_engine_whose_tokens_are_never_settled_holds_it_up_for_a_bounded_time() {
        try (WarmStart start = start(Duration.ofMillis(1))) {
            assertFalse(start.warm());
            start.added(worker(WorkerState.READY, EngineKind.VLLM, "m"));
            await().atMost(SOON).until(start::warm);
            assertEquals(2, begun.size());
        }
    }

    @Test
    void the_same_is_not_done_twice() {
        try (WarmStart start = start(LONG)) {
            start.settled(worker(WorkerState.READY, EngineKind.OPENAI, "any"));
            await().atMost(SOON).until(start::warm);
            assertEquals(1, begun.size());
        }
    }

    @Test
    void without_a_warm_up_nobody_waits_for_an_engine() {
        try (WarmStart start = new WarmStart(target -> warmup(target, 0), KNOWN, LONG)) {
            start.start();
            assertTrue(start.warm());
            start.settled(worker(WorkerState.READY, EngineKind.SGLANG, "m"));
            assertEquals(List.of(), begun);
        }
    }

    @Test
    void a_second_one_that_cannot_begin_is_the_end_of_it() {
        try (WarmStart start =
                new WarmStart(
                        target -> {
                            if (target.equals(KNOWN)) {
                                return warmup(target);
                            }
                            throw new IllegalStateException("made to fail");
                        },
                        KNOWN,
                        LONG)) {
            start.start();
            start.settled(worker(WorkerState.READY, EngineKind.SGLANG, "m"));
            await().atMost(SOON).until(start::warm);
        }
    }

    @Test
    void nothing_begins_after_the_end() {
        WarmStart start = start(LONG);
        start.close();
        start.settled(worker(WorkerState.READY, EngineKind.SGLANG, "m"));
        await().atMost(SOON).until(start::warm);
        assertTrue(start.first().done());
        assertEquals(1, begun.size());
    }
}
