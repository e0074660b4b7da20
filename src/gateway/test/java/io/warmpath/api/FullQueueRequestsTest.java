package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.ROLE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.admission.AdmissionOptions;
import io.warmpath.admission.BusyThresholds;
import io.warmpath.admission.Policies;
import io.warmpath.admission.PolicyClass;
import io.warmpath.admission.QueuePolicy;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.flow.Retries;
import io.warmpath.upstream.UpstreamOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Engines that say that their queues are full, before one that has room. No two tries and no budget
 * are used up by them, so here there are neither.
 */
@ExtendWith(Leaks.class)
class FullQueueRequestsTest {
    private static final String MESSAGE = "The request queue is full.";
    private static final String SGLANG =
            "{\"object\":\"error\",\"message\":\"" + MESSAGE + "\",\"type\":\"503\",\"code\":503}";
    private static final String EVENT =
            "data: {\"error\":{\"object\":\"error\",\"message\":\""
                    + MESSAGE
                    + "\",\"type\":\"SERVICE_UNAVAILABLE\",\"param\":null,\"code\":503}}\n\n";

    private final List<StubEngine> engines = new ArrayList<>();
    private Gateway gateway;

    /** {@code full}: engines before the one that has room. */
    private void start(int full, StubEngine.Script script) throws Exception {
        start(new Gateway(EnginePath.RAW, new Retries.Options(1, 0, 0, 0, 0)), full, script);
    }

    private void start(Gateway with, int full, StubEngine.Script script) throws Exception {
        gateway = with;
        for (int i = 0; i < full; i++) {
            engines.add(new StubEngine(script));
        }
        engines.add(new StubEngine(FullQueueRequestsTest::good));
        gateway.serve(engines.toArray(StubEngine[]::new));
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engines.toArray(StubEngine[]::new));
    }

    private static void good(StubEngine.Call call) throws Exception {
        call.streamHead();
        call.chunk(ROLE);
        call.chunk(token("good"));
        call.chunk(DONE);
        call.lastChunk();
    }

    private static StubEngine.Script says(int status, String body) {
        return call -> call.json(status, body);
    }

    private static StubEngine.Script streams(String events) {
        return call -> {
            call.streamHead();
            for (int i = 0; i < events.length(); i += 50) {
                call.chunk(events.substring(i, Math.min(events.length(), i + 50)));
            }
            call.lastChunk();
        };
    }

    private void assertGood(RawClient.Answer answer) {
        assertEquals(200, answer.status(), answer::body);
        assertEquals(ROLE + token("good") + DONE, answer.body());
    }

    private void assertFull(int... workers) {
        assertEquals(workers.length, gateway.fleet.full.size(), gateway.fleet.full.toString());
        for (int worker : workers) {
            assertTrue(gateway.fleet.full.containsKey((long) worker), "w" + worker);
        }
        assertEquals(List.of(), gateway.fleet.failed, "no failure");
        assertEquals(List.of(), gateway.fleet.failures);
    }

    @ParameterizedTest
    @ValueSource(ints = {503, 429, 529})
    void three_full_ones_use_up_neither_tries_nor_budget(int status) throws Exception {
        start(3, says(status, SGLANG));
        assertGood(gateway.post(Gateway.ASK));
        assertFull(0, 1, 2);
        assertEquals(3, gateway.counter("warmpath.retries", "cause", "full"));
        assertGood(gateway.post(Gateway.ASK));
        for (StubEngine full : engines.subList(0, 3)) {
            assertEquals(1, full.requests.get(), "not asked again yet");
        }
        assertEquals(Duration.ofSeconds(1), gateway.fleet.full.get(0L));
        gateway.fleet.become(0, WorkerState.READY);
        engines.getFirst().script(FullQueueRequestsTest::good);
        assertGood(gateway.post(Gateway.ASK));
        assertEquals(2, engines.getFirst().requests.get());
    }

    @Test
    void a_stream_whose_first_event_says_so_goes_elsewhere() throws Exception {
        start(2, streams(EVENT + DONE));
        assertGood(gateway.post(Gateway.ASK));
        assertFull(0, 1);
    }

    @Test
    void an_error_event_of_another_kind_is_passed_on() throws Exception {
        String other = EVENT.replace(MESSAGE, "out of memory");
        start(1, streams(other + DONE));
        assertEquals(other + DONE, gateway.post(Gateway.ASK).body());
        assertFull();
    }

    @Test
    void an_error_after_a_token_is_no_full_queue() throws Exception {
        start(1, streams(ROLE + token("a") + EVENT + DONE));
        assertEquals(ROLE + token("a") + EVENT + DONE, gateway.post(Gateway.ASK).body());
        assertFull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/messages", "/v1/responses", "/v1/completions", "/v1/embeddings"})
    void in_other_apis_too(String api) throws Exception {
        start(2, says(503, SGLANG));
        String ask =
                "{\"model\":\"m\",\"max_tokens\":5,\"prompt\":\"a\",\"input\":\"a\",\"stream\":true,"
                        + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
        RawClient.Answer answer = RawClient.post(gateway.port, api, ask);
        assertEquals(200, answer.status(), answer::body);
        assertTrue(answer.body().contains("good"), answer::body);
        assertFull(0, 1);
    }

    @Test
    void in_streams_of_messages_too() throws Exception {
        start(2, streams(EVENT + DONE));
        RawClient.Answer answer =
                RawClient.post(
                        gateway.port,
                        "/v1/messages",
                        Gateway.ASK.replaceFirst("\\{", "{\"max_tokens\":5,"));
        assertTrue(answer.body().contains("good"), answer::body);
        assertFull(0, 1);
    }

    /** Its client has the beginning by then; the next request goes elsewhere. */
    @Test
    void a_stream_of_the_responses_api_is_passed_on_and_noted() throws Exception {
        String failed =
                "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n"
                        + "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":"
                        + "{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\""
                        + MESSAGE
                        + "\"}}}\n\n";
        start(1, streams(failed));
        String ask = "{\"model\":\"m\",\"input\":\"a\",\"stream\":true}";
        // Elsewhere where both events have come at once.
        String first = RawClient.post(gateway.port, "/v1/responses", ask).body();
        assertTrue(first.equals(failed) || first.contains("good"), first);
        assertFull(0);
        RawClient.Answer next = RawClient.post(gateway.port, "/v1/responses", ask);
        assertTrue(next.body().contains("good"), next::body);
    }

    @ParameterizedTest
    @CsvSource({"503, 7, 7", "503, , 1", "429, 7, 7", "429, , 1"})
    void when_all_are_full_the_client_gets_the_engines_words_and_when_to_come_back(
            int status, String after, String told) throws Exception {
        String header = after == null ? "" : "Retry-After: " + after + "\r\n";
        StubEngine.Script full =
                call ->
                        call.send(
                                ("HTTP/1.1 %d X\r\n%sContent-Type: application/json\r\n"
                                                + "Content-Length: %d\r\n\r\n%s")
                                        .formatted(status, header, SGLANG.length(), SGLANG));
        start(2, full);
        engines.getLast().script(full);
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(status, answer.status());
        assertEquals(SGLANG, answer.body());
        assertEquals(told, answer.header("retry-after"));
        assertFull(0, 1, 2);
        assertEquals(Duration.ofSeconds(Long.parseLong(told)), gateway.fleet.full.get(0L));
        // While all are known to be full, one of them is asked, which may have room by now.
        assertEquals(status, gateway.post(Gateway.ASK).status());
        assertEquals(4, engines.stream().mapToInt(e -> e.requests.get()).sum());
    }

    @Test
    void a_503_that_names_no_queue_is_a_broken_engine() throws Exception {
        start(1, says(503, "<html>503 Service Temporarily Unavailable</html>"));
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(503, answer.status(), "one try, no budget");
        assertNull(answer.header("retry-after"));
        assertEquals(List.of(0L), gateway.fleet.failed);
        assertEquals(Map.of(), gateway.fleet.full);
    }

    @Test
    void a_429_about_the_clients_key_is_passed_on() throws Exception {
        String quota = "{\"error\":{\"message\":\"x\",\"code\":\"insufficient_quota\"}}";
        start(1, says(429, quota));
        assertEquals(quota, gateway.post(Gateway.ASK).body());
        assertFull();
    }

    @Test
    void a_request_that_names_a_full_worker_gets_its_words() throws Exception {
        start(1, says(503, SGLANG));
        for (int i = 0; i < 2; i++) {
            String ask = Gateway.ASK.replaceFirst("\\{", "{\"nvext\":{\"backend_instance_id\":0},");
            assertEquals(SGLANG, gateway.post(ask).body());
        }
        assertEquals(2, engines.getFirst().requests.get());
    }

    @Test
    void where_there_is_a_queue_it_waits_for_room() throws Exception {
        PolicyClass all =
                new PolicyClass(
                        "all",
                        "all",
                        "",
                        QueuePolicy.FCFS,
                        1000,
                        new PolicyClass.Threshold(1 << 20, false),
                        100,
                        PolicyClass.NO_LIMIT,
                        PolicyClass.NO_LIMIT);
        AdmissionOptions queue =
                new AdmissionOptions(
                        new Policies("all", List.of(), List.of(all)),
                        Map.of(),
                        BusyThresholds.NONE,
                        8192,
                        Duration.ofSeconds(10),
                        529);
        start(
                new Gateway(
                        EnginePath.RAW,
                        GatewayOptions.defaults(),
                        UpstreamOptions.defaults(),
                        Runnable::run,
                        queue),
                1,
                says(503, SGLANG));
        engines.getLast().script(says(429, "{}"));
        try (RawClient client = new RawClient(gateway.port);
                RawClient later = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            await().until(() -> gateway.admission.waiting() == 1);
            later.sendPost(Gateway.CHAT, Gateway.ASK);
            await().until(() -> gateway.admission.waiting() == 2);
            assertEquals(2, engines.stream().mapToInt(e -> e.requests.get()).sum());
            engines.getLast().script(FullQueueRequestsTest::good);
            gateway.fleet.become(1, WorkerState.READY);
            gateway.admission.wake();
            assertGood(client.readAnswer());
            assertGood(later.readAnswer());
        }
        assertFull(0, 1);
        assertEquals(1, engines.getFirst().requests.get(), "not asked while it is full");
    }

    @Test
    void a_full_hedge_leaves_the_request_to_the_first() throws Exception {
        start(
                new Gateway(EnginePath.RAW, new Retries.Options(2, 0, 0, 99, 1)),
                1,
                FullQueueRequestsTest::good);
        try (RawClient client = new RawClient(gateway.port)) {
            for (int i = 0; i < 100; i++) {
                client.sendPost(Gateway.CHAT, Gateway.ASK);
                assertEquals(200, client.readAnswer().status());
            }
        }
        CountDownLatch refused = new CountDownLatch(1);
        engines.get(0)
                .script(
                        call -> {
                            assertTrue(refused.await(10, TimeUnit.SECONDS));
                            good(call);
                        });
        engines.get(1)
                .script(
                        call -> {
                            call.json(503, SGLANG);
                            await().until(() -> gateway.fleet.full.containsKey(1L));
                            refused.countDown();
                        });
        assertGood(gateway.post(Gateway.ASK));
        assertFull(1);
        assertEquals(1, gateway.counter("warmpath.hedges", "result", "lost"));
    }

    @Test
    void a_continued_stream_passes_full_ones_by() throws Exception {
        start(3, says(503, SGLANG));
        StubEngine.Script end =
                call -> {
                    call.streamHead();
                    call.chunk(ROLE);
                    call.chunk(token("!"));
                    call.chunk(DONE);
                    call.lastChunk();
                };
        engines.get(0)
                .script(
                        call -> {
                            call.streamHead();
                            call.chunk(ROLE + token("so far"));
                            await().until(() -> gateway.books.firstTokens.get() > 0);
                            call.reset();
                        });
        engines.get(3).script(end);
        List<Worker> all = new ArrayList<>();
        for (StubEngine engine : engines) {
            all.add(
                    Gateway.worker(
                            all.size(), engine.url(), EngineKind.SGLANG, WorkerState.READY, 1));
        }
        gateway.fleet.workers(all);
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertEquals(ROLE + token("so far") + token("!") + DONE, answer.body());
        assertEquals(2, gateway.fleet.full.size());
        assertEquals(List.of(), gateway.fleet.failed);
    }
}
