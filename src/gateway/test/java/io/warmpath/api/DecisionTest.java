package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.routing.Ineligible;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.TaintMatch;
import io.warmpath.routing.TaintRules;
import io.warmpath.routing.modes.Routers;
import io.warmpath.tokens.PromptTokens;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.upstream.UpstreamOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the decision is fed with, what is added to the request, and what happens without advice. */
@ExtendWith(Leaks.class)
class DecisionTest {
    private Gateway gateway;
    private StubEngine engine;

    private void start(Executor tokenizers, Duration tokenDeadline) throws Exception {
        GatewayOptions options =
                Options.of(
                        o -> {
                            o.tokenDeadline = tokenDeadline;
                            o.classTolerations =
                                    Map.of("batch", List.of(TaintMatch.parse("dedicated=batch")));
                        });
        gateway = new Gateway(EnginePath.RAW, options, UpstreamOptions.defaults(), tokenizers);
        engine =
                new StubEngine(
                        call -> {
                            call.streamHead();
                            call.chunk(token("a"));
                            call.chunk(DONE);
                            call.lastChunk();
                        });
        gateway.serve(engine);
    }

    private void start() throws Exception {
        start(Runnable::run, Duration.ofSeconds(30));
    }

    private void serve(EngineKind kind, int ranks, Set<Integer> blockSizes) {
        List<Worker> workers =
                blockSizes.stream()
                        .sorted()
                        .map(
                                size -> {
                                    Worker w =
                                            Gateway.worker(
                                                    size,
                                                    engine.url(),
                                                    kind,
                                                    WorkerState.READY,
                                                    ranks);
                                    return w.toBuilder().kind(kind).blockSize(size).build();
                                })
                        .toList();
        gateway.fleet.workers(workers);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    private static final String NOT_EXACT = "warmpath.predictions.not.exact";

    private RoutingRequest onlyRequest() {
        assertEquals(1, gateway.router.requests.size());
        return gateway.router.requests.get(0);
    }

    private double withoutTokens(String cause) {
        return gateway.counter("warmpath.requests.without.tokens", "cause", cause);
    }

    @Test
    void the_index_is_asked_once_per_block_size() throws Exception {
        start();
        serve(EngineKind.VLLM, 2, Set.of(0, 16, 64));
        assertEquals(200, gateway.post(Gateway.ASK).status());
        assertEquals(
                List.of(16, 64), gateway.index.queries.stream().map(q -> q.blockSize()).toList());
        assertEquals(40, gateway.index.queries.get(0).length());
        assertSame(PrefixSpace.NONE, gateway.index.queries.get(0).space());
        assertEquals(40, onlyRequest().promptTokens());
        assertEquals(2, onlyRequest().matches().size());
        assertEquals(6, onlyRequest().candidates().size());
    }

    @Test
    void cheap_prompts_stay_on_the_event_loop_and_others_leave_it() throws Exception {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(
                        1,
                        1,
                        1,
                        TimeUnit.SECONDS,
                        new ArrayBlockingQueue<>(10),
                        r -> new Thread(r, "tokenizer-test"));
        try {
            start(pool, Duration.ofSeconds(30));
            gateway.post(Gateway.ASK);
            assertTrue(gateway.tokens.thread.contains("eventloop"), gateway.tokens.thread);
            gateway.tokens.cheap = false;
            assertEquals(200, gateway.post(Gateway.ASK).status());
            assertEquals("tokenizer-test", gateway.tokens.thread);
            assertEquals(40, gateway.router.requests.get(1).promptTokens());
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void a_lengthy_prompt_takes_the_lane_that_nobody_else_waits_for() throws Exception {
        List<String> lanes = new CopyOnWriteArrayList<>();
        final class Lanes implements Executor, TokenLanes {
            @Override
            public void execute(Runnable work) {
                throw new AssertionError("neither lane");
            }

            @Override
            public void brief(Runnable work) {
                lanes.add("brief");
                work.run();
            }

            @Override
            public void lengthy(Runnable work) {
                lanes.add("lengthy");
                work.run();
            }
        }
        start(new Lanes(), Duration.ofSeconds(30));
        gateway.tokens.cheap = false;
        assertEquals(200, gateway.post(Gateway.ASK).status());
        gateway.tokens.later = PromptTokens.Later.LENGTHY;
        assertEquals(200, gateway.post(Gateway.ASK).status());
        assertEquals(List.of("brief", "lengthy"), lanes);
    }

    @Test
    void a_full_tokenising_queue_routes_by_load() throws Exception {
        start(
                task -> {
                    throw new RejectedExecutionException("full");
                },
                Duration.ofSeconds(30));
        gateway.tokens.cheap = false;
        assertEquals(200, gateway.post(Gateway.ASK).status());
        assertEquals(0, onlyRequest().promptTokens());
        assertEquals(List.of(), onlyRequest().matches());
        assertEquals(1, withoutTokens("queue_full"));
        assertEquals(1, gateway.counter(NOT_EXACT, "reason", "tokens_late"));
    }

    @Test
    void tokens_that_come_too_late_are_not_waited_for() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        Thread[] late = new Thread[1];
        start(
                task ->
                        late[0] =
                                Thread.ofPlatform()
                                        .start(
                                                () -> {
                                                    try {
                                                        release.await();
                                                    } catch (InterruptedException e) {
                                                        Thread.currentThread().interrupt();
                                                    }
                                                    task.run();
                                                }),
                Duration.ofMillis(50));
        gateway.tokens.cheap = false;
        assertEquals(200, gateway.post(Gateway.ASK).status());
        assertEquals(0, onlyRequest().promptTokens());
        assertEquals(1, withoutTokens("late"));
        release.countDown();
        late[0].join();
        gateway.tokens.cheap = true;
        gateway.post(Gateway.ASK); // the loop has passed the late tokens by
        assertEquals(2, engine.requests.get(), "the late tokens start nothing");
    }

    @Test
    void failing_tokens_and_a_failing_index_route_by_load() throws Exception {
        start();
        gateway.tokens.failure = new IllegalStateException("no tokenizer");
        assertEquals(200, gateway.post(Gateway.ASK).status());
        assertEquals(1, withoutTokens("failed"));
        assertEquals(0, onlyRequest().promptTokens());
        gateway.tokens.failure = null;
        gateway.index.failure = new IllegalStateException("index closed");
        assertEquals(200, gateway.post(Gateway.ASK).status());
        assertEquals(List.of(), gateway.router.requests.get(1).matches());
        assertEquals(1, gateway.meters.get("warmpath.index.failures").counter().count());
        assertEquals(1, gateway.counter(NOT_EXACT, "reason", "tokens_failed"));
        assertEquals(1, gateway.counter(NOT_EXACT, "reason", "no_match"));
    }

    @Test
    void unknown_tokens_and_opaque_prompts_are_counted_and_routed_by_load() throws Exception {
        start();
        gateway.tokens.ids = null;
        assertEquals(200, gateway.post(Gateway.ASK, "x-warmpath-explain: 1").status());
        String opaque =
                Gateway.ASK.replace("{\"model\"", "{\"truncate_prompt_tokens\":5,\"model\"");
        RawClient.Answer answer = gateway.post(opaque, "x-warmpath-explain: 1");
        assertEquals("w0", answer.header("x-warmpath-worker"));
        assertEquals("text/event-stream", answer.header("content-type"), "the engine's stay");
        assertNull(answer.header("x-warmpath-prompt-tokens"));
        assertEquals(
                "a member hides the prompt's tokens", answer.header("x-warmpath-not-predicted"));
        assertEquals(2, withoutTokens("unknown"));
        assertEquals(1, gateway.counter(NOT_EXACT, "reason", "tokens_unknown"));
        assertEquals(1, gateway.counter(NOT_EXACT, "reason", "prompt_hidden"));
        assertEquals(1, gateway.tokens.asked.get());
        assertTrue(gateway.tokens.seen.get(0) instanceof PromptInput.Chat);
    }

    @Test
    void a_bug_in_the_router_is_a_500_with_the_request_id() throws Exception {
        start();
        gateway.tokens.ids = new int[0];
        serve(EngineKind.VLLM, 1, Set.of(16));
        gateway.router.bug = new IllegalStateException("bug");
        RawClient.Answer answer = gateway.post(Gateway.ASK, "x-request-id: r-77");
        assertEquals(500, answer.status());
        assertTrue(answer.body().contains("request id r-77"), answer.body());
        assertFalse(answer.body().contains("IllegalState"), answer.body());
        assertEquals(1, gateway.counter("warmpath.requests", "outcome", "internal"));
    }

    @Test
    void what_the_client_says_about_routing_reaches_the_decision() throws Exception {
        start();
        String body =
                "{\"nvext\":{\"router_config_override\":{\"router_temperature\":0.5},"
                        + "\"agent_hints\":{\"osl\":77}},"
                        + Gateway.ASK.substring(1);
        assertEquals(200, gateway.post(body).status());
        assertEquals(0.5, onlyRequest().overrides().routerTemperature());
        assertEquals(77, onlyRequest().outputTokens());
        assertEquals(RoutingRequest.Detail.CHOSEN, onlyRequest().detail());
        assertEquals(List.of(), onlyRequest().ineligible());
    }

    @Test
    void a_prompts_blocks_have_names_and_the_client_says_whether_they_are_shared()
            throws Exception {
        start();
        serve(EngineKind.VLLM, 2, Set.of(16));
        gateway.post(Gateway.ASK);
        // Also now, when the request has let go of its prompt.
        PromptBlocks named = onlyRequest().prompts().getFirst();
        assertEquals(40 / 16, named.chain().length);
        assertTrue(named.shared());
        gateway.router.requests.clear();
        gateway.post(
                "{\"nvext\":{\"router_config_override\":{\"assume_kv_reuse\":false}},"
                        + Gateway.ASK.substring(1));
        PromptBlocks apart = onlyRequest().prompts().getFirst();
        assertFalse(apart.shared());
        assertArrayEquals(named.chain(), apart.chain());
        assertEquals(List.of(named, apart), gateway.books.prompts);
    }

    @Test
    void a_booking_hears_of_every_piece_of_an_answer() throws Exception {
        start();
        engine.script(
                call -> {
                    call.streamHead();
                    for (int i = 1; i <= 2; i++) {
                        int events = i;
                        call.chunk(token("a"));
                        await().until(() -> gateway.books.progress.contains(events));
                    }
                    call.chunk(DONE);
                    call.lastChunk();
                });
        assertEquals(200, gateway.post(Gateway.ASK).status());
        assertEquals(List.of(1, 2), gateway.books.progress.subList(0, 2));
    }

    @Test
    void the_router_is_told_what_became_of_its_decision() throws Exception {
        start();
        gateway.post(Gateway.ASK);
        assertEquals(List.of("w0 streams", "w0 first token", "w0 ended -1"), gateway.router.seen);
        gateway.router.seen.clear();
        engine.script(call -> call.json(200, "{\"usage\":{\"completion_tokens\":7}}"));
        gateway.post(Gateway.ASK_WHOLE);
        assertEquals("w0 answers", gateway.router.seen.getFirst());
        assertEquals("w0 ended 7", gateway.router.seen.getLast());
        gateway.router.seen.clear();
        engine.script(call -> call.json(422, "{}"));
        gateway.post(Gateway.ASK);
        assertEquals(
                List.of("w0 streams", "w0 ended -1"),
                gateway.router.seen,
                "an error is no first token");
    }

    @Test
    void an_explained_decision_knows_who_could_not_be_chosen() throws Exception {
        start();
        Worker ready = Gateway.worker(0, engine.url(), EngineKind.VLLM, WorkerState.READY, 1);
        Worker draining = Gateway.worker(1, engine.url(), EngineKind.VLLM, WorkerState.DRAINING, 1);
        gateway.fleet.workers(List.of(ready, draining));
        assertEquals(200, gateway.post(Gateway.ASK, "x-warmpath-explain: 1").status());
        assertEquals(RoutingRequest.Detail.ALL, onlyRequest().detail());
        assertEquals(
                List.of(new Ineligible(draining.name(), "draining")), onlyRequest().ineligible());
    }

    @Test
    void what_the_client_or_its_class_says_of_taints_reaches_the_decision() throws Exception {
        start();
        String body =
                "{\"nvext\":{\"tolerations\":[\"spot\"],\"required_taints\":[\"gpu=a\"],"
                        + "\"preferred_taints\":{\"zone=b\":0.5}},"
                        + Gateway.ASK.substring(1);
        Worker tainted = Gateway.tainted(0, engine.url(), "gpu=a", "dedicated=batch:NoSchedule");
        gateway.fleet.workers(List.of(tainted));
        assertEquals(200, gateway.post(body, "x-dynamo-meta-policy-class: batch").status());
        TaintRules taints = onlyRequest().taints();
        assertEquals(
                List.of(TaintMatch.parse("spot"), TaintMatch.parse("dedicated=batch")),
                taints.tolerated());
        assertEquals(List.of(TaintMatch.parse("gpu=a")), taints.required());
        assertEquals(Map.of(TaintMatch.parse("zone=b"), 0.5), taints.preferred());
        gateway.router.requests.clear();
        assertEquals(
                200,
                gateway.post(
                                body,
                                "x-warmpath-tolerations: dedicated, a=b",
                                "x-warmpath-required-taints: gpu")
                        .status());
        assertEquals(
                List.of(TaintMatch.parse("dedicated"), TaintMatch.parse("a=b")),
                onlyRequest().taints().tolerated());
        assertEquals(List.of(TaintMatch.parse("gpu")), onlyRequest().taints().required());
    }

    @Test
    void a_worker_set_apart_takes_no_request_that_does_not_tolerate_it() throws Exception {
        start();
        gateway.fleet.workers(
                List.of(Gateway.tainted(0, engine.url(), "dedicated=batch:NoSchedule")));
        gateway.router.instead =
                Routers.create(
                        RouterOptions.of(RouterMode.RANDOM),
                        gateway.books,
                        ThreadLocalRandom::current);
        RawClient.Answer refused = gateway.post(Gateway.ASK);
        assertEquals(503, refused.status());
        assertTrue(
                refused.body().contains("taint dedicated=batch:NoSchedule is not tolerated"),
                refused.body());
        assertEquals(0, engine.requests.get());
        assertEquals(400, gateway.post(Gateway.ASK, "x-warmpath-required-taints: gpu=z").status());
        assertEquals(400, gateway.post(Gateway.ASK, "x-warmpath-tolerations: a b").status());
        assertEquals(200, gateway.post(Gateway.ASK, "x-warmpath-tolerations: dedicated").status());
    }

    @Test
    void a_pinned_worker_or_rank_that_is_not_there_is_a_400() throws Exception {
        start();
        assertEquals(400, gateway.post(Gateway.ASK, "x-worker-instance-id: 77").status());
        assertEquals(400, gateway.post(Gateway.ASK, "x-dp-rank: 5").status());
        assertEquals(0, engine.requests.get());
    }

    @Test
    void vllm_learns_the_rank_from_a_header() throws Exception {
        start();
        serve(EngineKind.VLLM, 2, Set.of(16));
        gateway.post(Gateway.ASK, "x-dp-rank: 1");
        assertEquals("1", engine.calls.get(0).header("x-data-parallel-rank"));
        assertEquals(Gateway.ASK, engine.calls.get(0).bodyText());
    }

    /**
     * A header counts the ranks of the engine's own server, and a pin those of {@code /workers}.
     */
    @Test
    void a_vllm_with_the_last_ranks_of_a_group_is_asked_for_its_first_and_second()
            throws Exception {
        start();
        Worker w = Gateway.worker(0, engine.url(), EngineKind.VLLM, WorkerState.READY, 2);
        EngineRanks ranks = new EngineRanks(2, 2, false);
        gateway.fleet.workers(List.of(w.toBuilder().numbers(ranks).build()));
        for (String rank : List.of("0", "1")) {
            assertEquals(200, gateway.post(Gateway.ASK, "x-dp-rank: " + rank).status());
        }
        assertEquals(
                List.of("0", "1"),
                engine.calls.stream().map(c -> c.header("x-data-parallel-rank")).toList());
        for (String number : List.of("2", "3")) {
            assertEquals(400, gateway.post(Gateway.ASK, "x-dp-rank: " + number).status());
        }
        assertEquals(2, engine.calls.size());
    }

    @Test
    void sglang_learns_the_rank_from_the_body() throws Exception {
        start();
        serve(EngineKind.SGLANG, 2, Set.of(16));
        gateway.post(Gateway.ASK, "x-dp-rank: 1");
        assertEquals(
                "{\"routed_dp_rank\":1," + Gateway.ASK.substring(1),
                engine.calls.get(0).bodyText());
        String own = "{\"routed_dp_rank\": 0," + Gateway.ASK.substring(1);
        gateway.post(own);
        assertEquals(own, engine.calls.get(1).bodyText());
    }

    @Test
    void a_worker_with_one_rank_gets_the_bytes_unchanged() throws Exception {
        start();
        serve(EngineKind.SGLANG, 1, Set.of(16));
        gateway.post(Gateway.ASK);
        assertEquals(Gateway.ASK, engine.calls.get(0).bodyText());
    }

    @Test
    void a_tenant_header_separates_the_caches_here_and_at_the_engine() throws Exception {
        start();
        gateway.post(Gateway.ASK, "x-tenant-id: a\"b");
        assertEquals(new PrefixSpace("", "a\"b"), gateway.index.queries.get(0).space());
        assertEquals(
                "{\"cache_salt\":\"a\\\"b\"," + Gateway.ASK.substring(1),
                engine.calls.get(0).bodyText());
        String salted = "{\"cache_salt\" : \"other\" ," + Gateway.ASK.substring(1);
        gateway.post(salted, "x-tenant-id: mine");
        assertEquals(
                "{\"cache_salt\" : \"mine\" ," + Gateway.ASK.substring(1),
                engine.calls.get(1).bodyText());
        gateway.post(salted);
        assertEquals(salted, engine.calls.get(2).bodyText());
        assertEquals(new PrefixSpace("", "other"), gateway.index.queries.get(2).space());
    }
}
