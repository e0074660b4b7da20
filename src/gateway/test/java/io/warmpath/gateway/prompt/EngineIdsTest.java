package io.warmpath.gateway.prompt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.probe.EngineTokenizer;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.request.BodyEdits;
import io.warmpath.gateway.request.ByteRange;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.ModelName;
import io.warmpath.gateway.request.RequestHints;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.tokens.template.PromptInput;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EngineIdsTest {
    private static final PromptInput TEXT = new PromptInput.Text("hi");

    private static final BodyEdits NO_EDITS =
            new BodyEdits(
                    0,
                    true,
                    false,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    ByteRange.ABSENT,
                    BodyEdits.Answer.UNSAID,
                    List.of());

    private final Vertx vertx = Vertx.vertx();
    private final Context context = vertx.getOrCreateContext();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final FlowMetrics metrics = new FlowMetrics(meters);
    private final AtomicLong now = new AtomicLong();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final List<Candidate> both =
            List.of(candidate(1, EngineKind.VLLM), candidate(2, EngineKind.SGLANG));

    @AfterEach
    void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private static Candidate candidate(int id, EngineKind kind) {
        Worker.Rank rank = new Worker.Rank(0, new WorkerSlot(id));
        return new Candidate(
                Worker.builder(id, "w" + id, URI.create("http://w"))
                        .kind(kind)
                        .models(Set.of("m"))
                        .blockSize(16)
                        .ranks(List.of(rank))
                        .build(),
                0,
                rank.slot());
    }

    private static InferenceRequest request(String model, PromptInput prompt) {
        return new InferenceRequest(
                new InferenceRequest.Received(
                        "id",
                        "/v1/completions",
                        MultiMap.caseInsensitiveMultiMap().add("authorization", "Bearer key"),
                        Buffer.buffer("{}")),
                ModelName.plain(model),
                prompt,
                InferenceRequest.CacheSalt.NONE,
                InferenceRequest.Routing.FREE,
                RequestHints.NONE,
                NO_EDITS,
                InferenceRequest.Form.WHOLE);
    }

    private EngineIds ids(EngineTokenizer engines, Executor threads, int atOnce, Duration wait) {
        return new EngineIds(
                "m"::equals,
                (worker, question) -> {
                    asked.add(worker.name() + " " + question.authorization());
                    return engines.tokens(worker, question);
                },
                threads,
                atOnce,
                wait,
                now::get);
    }

    private EngineIds ids(EngineTokenizer engines) {
        return ids(engines, Runnable::run, 8, Duration.ofMinutes(1));
    }

    private EnginePrompts complete(EngineIds ids, List<Candidate> candidates, EnginePrompts known)
            throws Exception {
        CompletableFuture<EnginePrompts> done = new CompletableFuture<>();
        context.runOnContext(
                v ->
                        ids.complete(
                                context,
                                request("m", TEXT),
                                candidates,
                                known,
                                metrics,
                                done::complete));
        return done.get(20, TimeUnit.SECONDS);
    }

    private double counted(String result) {
        return meters.get("warmpath.engine.tokenize").tag("result", result).counter().count();
    }

    @Test
    void each_kind_is_asked_once_and_its_answer_is_its_own() throws Exception {
        EngineIds ids = ids((worker, question) -> Optional.of(new int[] {(int) worker.id(), 7}));
        EnginePrompts found = complete(ids, both, EnginePrompts.UNKNOWN);
        assertNotNull(found);
        assertArrayEquals(new int[] {1, 7}, found.of(EngineKind.VLLM).ids());
        assertArrayEquals(new int[] {2, 7}, found.of(EngineKind.SGLANG).ids());
        assertEquals(2, asked.size());
        assertTrue(asked.contains("w1 Bearer key"), asked.toString());
        assertEquals(2, counted("answered"));
    }

    @Test
    void what_is_known_is_not_asked() throws Exception {
        EngineIds ids = ids((worker, question) -> Optional.of(new int[] {9}));
        EnginePrompts known = EnginePrompts.same(PromptContent.of(new int[] {1}));
        assertEquals(known, complete(ids, both, known));
        assertEquals(List.of(), asked);
        assertFalse(ids.asks(request("other", TEXT)));
        assertFalse(ids.asks(request("m", new PromptInput.Ids(new int[1]))));
        assertFalse(ids.asks(request("m", new PromptInput.Opaque("batch"))));
        assertTrue(ids.asks(request("m", TEXT)));
    }

    @Test
    void the_questions_go_round_the_workers() throws Exception {
        EngineIds ids = ids((worker, question) -> Optional.of(new int[] {9}));
        List<Candidate> three = new ArrayList<>();
        for (int id = 1; id <= 3; id++) {
            three.add(candidate(id, EngineKind.VLLM));
        }
        for (int i = 0; i < 6; i++) {
            complete(ids, three, EnginePrompts.UNKNOWN);
        }
        for (int id = 1; id <= 3; id++) {
            String name = "w" + id;
            assertEquals(2, asked.stream().filter(a -> a.startsWith(name)).count());
        }
    }

    @Test
    void a_worker_without_a_tokenizer_is_asked_again_after_a_minute() throws Exception {
        Candidate one = candidate(1, EngineKind.VLLM);
        boolean[] has = {false};
        EngineIds ids =
                ids(
                        (worker, question) -> {
                            if (!has[0]) {
                                throw new EngineTokenizer.Absent("404");
                            }
                            return Optional.of(new int[] {1});
                        });
        assertFalse(ids.isAbsent(one.worker()));
        for (int i = 0; i < 3; i++) {
            assertNull(complete(ids, List.of(one), EnginePrompts.UNKNOWN));
        }
        assertEquals(1, asked.size());
        assertEquals(1, counted("absent"));
        assertTrue(ids.isAbsent(one.worker()));
        has[0] = true;
        now.addAndGet(Duration.ofSeconds(64).toNanos());
        assertEquals(1, complete(ids, List.of(one), EnginePrompts.UNKNOWN).length());
        assertFalse(ids.isAbsent(one.worker()));
    }

    @Test
    void a_worker_that_fails_is_left_alone_for_twice_as_long_each_time() throws Exception {
        List<Candidate> one = List.of(candidate(1, EngineKind.VLLM));
        boolean[] works = {false};
        EngineIds ids =
                ids(
                        (worker, question) -> {
                            if (!works[0]) {
                                throw new IOException("404");
                            }
                            return Optional.of(new int[] {1});
                        });
        long pause = 1_000_000_000L;
        for (int i = 1; i <= 9; i++) {
            assertNull(complete(ids, one, EnginePrompts.UNKNOWN));
            assertEquals(i, asked.size());
            now.addAndGet(pause - 1);
            assertNull(complete(ids, one, EnginePrompts.UNKNOWN));
            assertEquals(i, asked.size(), "still left alone");
            now.addAndGet(1);
            pause = Math.min(64_000_000_000L, 2 * pause);
        }
        assertEquals(9, counted("failed"));
        works[0] = true;
        assertNotNull(complete(ids, one, EnginePrompts.UNKNOWN));
        works[0] = false;
        assertNull(complete(ids, one, EnginePrompts.UNKNOWN));
        now.addAndGet(1_000_000_000L);
        works[0] = true;
        assertNotNull(complete(ids, one, EnginePrompts.UNKNOWN), "one second again");
    }

    @Test
    void a_prompt_that_the_engine_refuses_has_no_ids() throws Exception {
        EngineIds ids = ids((worker, question) -> Optional.empty());
        assertNull(complete(ids, both, EnginePrompts.UNKNOWN));
        assertEquals(2, counted("refused"));
        assertNull(complete(ids, both, EnginePrompts.UNKNOWN));
        assertEquals(4, asked.size(), "it was the prompt's fault");
    }

    @Test
    void questions_above_the_limit_are_not_asked() throws Exception {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        List<Candidate> one = List.of(candidate(1, EngineKind.VLLM));
        EngineIds ids =
                ids(
                        (worker, question) -> {
                            hold.join();
                            return Optional.of(new int[] {1});
                        },
                        task -> Thread.ofVirtual().start(task),
                        1,
                        Duration.ofMinutes(1));
        CompletableFuture<EnginePrompts> first = new CompletableFuture<>();
        context.runOnContext(
                v ->
                        ids.complete(
                                context,
                                request("m", TEXT),
                                one,
                                EnginePrompts.UNKNOWN,
                                metrics,
                                first::complete));
        assertNull(complete(ids, one, EnginePrompts.UNKNOWN));
        assertEquals(1, counted("busy"));
        hold.complete(null);
        assertNotNull(first.get(20, TimeUnit.SECONDS));
    }

    @Test
    void an_answer_that_is_late_is_not_waited_for() throws Exception {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        EngineIds ids =
                ids(
                        (worker, question) -> {
                            hold.join();
                            return Optional.of(new int[] {1});
                        },
                        task -> Thread.ofVirtual().start(task),
                        4,
                        Duration.ofMillis(5));
        assertNull(complete(ids, both, EnginePrompts.UNKNOWN));
        assertEquals(1, counted("late"));
        hold.complete(null);
    }
}
