package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.ROLE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.upstream.UpstreamOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** Engines that say nothing for long; what their clients get to see meanwhile. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class KeepAliveTest {
    private static final String ALIVE = ": keep-alive\n\n";
    private static final String PING = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
    private static final Duration NEVER = Duration.ZERO;

    @Parameter EnginePath path;

    private final Semaphore go = new Semaphore(0);
    private Gateway gateway;
    private StubEngine first;
    private StubEngine second;

    @BeforeEach
    void start() throws Exception {
        first = new StubEngine(call -> {});
        second = new StubEngine(call -> answer(call, "second"));
        begin(GatewayOptions.defaults(), Duration.ofMillis(60), NEVER, UpstreamOptions.defaults());
    }

    private void begin(
            GatewayOptions options, Duration silence, Duration timeout, UpstreamOptions upstream)
            throws Exception {
        if (gateway != null) {
            gateway.close();
        }
        ClientBounds bounds = new ClientBounds(silence, timeout, Duration.ZERO, 1 << 20);
        gateway = new Gateway(path, options.with(bounds), upstream, Runnable::run);
        serve(EngineKind.OPENAI);
    }

    private void serve(EngineKind kind) {
        List<Worker> workers = new ArrayList<>();
        for (StubEngine e : List.of(first, second)) {
            workers.add(Gateway.worker(workers.size(), e.url(), kind, WorkerState.READY, 1));
        }
        gateway.fleet.workers(workers);
    }

    @AfterEach
    void stop() throws Exception {
        go.release(100);
        gateway.close();
        first.close();
        second.close();
        assertTrue(first.failures.isEmpty(), () -> "first: " + first.failures);
        assertTrue(second.failures.isEmpty(), () -> "second: " + second.failures);
    }

    private static void answer(StubEngine.Call call, String text) throws Exception {
        call.streamHead();
        call.chunk(ROLE);
        call.chunk(token(text));
        call.chunk(DONE);
        call.lastChunk();
    }

    private void pause() throws InterruptedException {
        assertTrue(go.tryAcquire(20, TimeUnit.SECONDS), "the test has forgotten the engine");
    }

    /** Reads until so much has come. */
    private static String read(RawClient client, String until) throws Exception {
        StringBuilder all = new StringBuilder();
        while (all.indexOf(until) < 0) {
            String chunk = client.readChunk();
            assertFalse(chunk.isEmpty(), () -> "the end, after " + all);
            all.append(chunk);
        }
        return all.toString();
    }

    private static String rest(RawClient client) throws Exception {
        StringBuilder all = new StringBuilder();
        for (String c = client.readChunk(); !c.isEmpty(); c = client.readChunk()) {
            all.append(c);
            assertTrue(all.length() < 4_000, () -> "it has no end: " + all.substring(0, 2_000));
        }
        return all.toString();
    }

    private static String without(String sign, String body) {
        return body.replace(sign, "");
    }

    @Test
    void a_stream_that_waits_for_its_first_token_is_begun_and_kept_alive() throws Exception {
        first.script(
                call -> {
                    pause();
                    answer(call, "late");
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK, "x-request-id: mine");
            String head = client.readHead();
            assertEquals(200, RawClient.status(head));
            assertTrue(head.contains("text/event-stream"), head);
            assertTrue(head.contains("x-request-id: mine"), head);
            assertEquals(ALIVE + ALIVE, read(client, ALIVE + ALIVE));
            go.release();
            assertEquals(ROLE + token("late") + DONE, without(ALIVE, rest(client)));
        }
        assertEquals(1, gateway.counter("warmpath.requests", "outcome", "ok"));
    }

    @Test
    void a_stream_that_falls_silent_is_kept_alive_but_not_inside_an_event() throws Exception {
        String event = token("second half comes later");
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(ROLE + token("a") + event.substring(0, 50));
                    pause();
                    call.chunk(event.substring(50) + DONE);
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead();
            // A slow machine may have needed a sign of life before these.
            assertEquals(ROLE + token("a"), without(ALIVE, read(client, token("a"))));
            assertEquals(ALIVE, read(client, ALIVE));
            go.release();
            assertEquals(event + DONE, without(ALIVE, rest(client)));
        }
    }

    /**
     * An event larger than what is held back goes out in pieces; a second stream tells the time.
     */
    @Test
    void nothing_is_put_into_an_event_of_which_a_part_is_out() throws Exception {
        begin(
                Gateway.limits(1 << 20, 64 << 10, 16),
                Duration.ofMillis(60),
                NEVER,
                UpstreamOptions.defaults());
        String event = token("x".repeat(100));
        first.script(
                call -> {
                    call.streamHead();
                    boolean inside = call.bodyText().contains("inside");
                    call.chunk(ROLE + token("a") + (inside ? event.substring(0, 90) : event));
                    pause();
                    call.chunk((inside ? event.substring(90) : "") + DONE);
                    call.lastChunk();
                });
        try (RawClient cut = new RawClient(gateway.port);
                RawClient clock = new RawClient(gateway.port)) {
            cut.sendPost(Gateway.CHAT, Gateway.ASK.replace("hi", "inside"));
            cut.readHead();
            assertEquals(
                    ROLE + token("a") + event.substring(0, 90), without(ALIVE, read(cut, "xxx")));
            clock.sendPost(Gateway.CHAT, Gateway.ASK);
            clock.readHead();
            read(clock, ALIVE + ALIVE + ALIVE);
            go.release(2);
            assertEquals(event.substring(90) + DONE, rest(cut));
            assertEquals(DONE, without(ALIVE, rest(clock)));
        }
    }

    @Test
    void another_worker_is_tried_after_signs_of_life_and_the_stream_is_one() throws Exception {
        first.script(
                call -> {
                    pause();
                    call.reset();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            assertEquals(200, RawClient.status(client.readHead()));
            read(client, ALIVE);
            go.release();
            assertEquals(ROLE + token("second") + DONE, without(ALIVE, rest(client)));
        }
        assertEquals(1, gateway.counter("warmpath.retries", "cause", "broke"));
        assertEquals(1, second.requests.get());
    }

    @Test
    void a_failure_before_the_first_sign_has_its_status_and_after_it_is_an_event()
            throws Exception {
        UpstreamOptions slow =
                Gateway.upstream(
                        Duration.ofSeconds(5), Duration.ofMillis(300), Duration.ofSeconds(5));
        first.script(call -> assertTrue(call.awaitGone()));
        second.script(call -> assertTrue(call.awaitGone()));
        begin(GatewayOptions.defaults(), Duration.ofSeconds(20), NEVER, slow);
        RawClient.Answer early = gateway.post(Gateway.ASK);
        assertEquals(504, early.status());
        assertTrue(early.body().contains("upstream_timeout"), early.body());
        begin(GatewayOptions.defaults(), Duration.ofMillis(60), NEVER, slow);
        RawClient.Answer late = gateway.post(Gateway.ASK);
        assertEquals(200, late.status());
        assertFalse(late.broken());
        String rest = without(ALIVE, late.body());
        assertTrue(rest.startsWith("data: {\"error\":{"), late.body());
        assertTrue(rest.contains("upstream_timeout"), late.body());
        assertFalse(rest.contains("[DONE]"), late.body());
        assertEquals(1, gateway.counter("warmpath.requests", "outcome", "upstream_failed"));
    }

    @Test
    void an_engines_refusal_after_signs_of_life_is_an_event_with_its_words() throws Exception {
        first.script(
                call -> {
                    pause();
                    call.json(400, "{\"object\":\"error\",\"message\":\"prompt is too long\"}");
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            assertEquals(200, RawClient.status(client.readHead()));
            read(client, ALIVE);
            go.release();
            assertEquals(
                    "data: {\"error\":{\"message\":\"prompt is too long\",\"type\":"
                            + "\"invalid_request_error\",\"param\":null,\"code\":\"engine_error\"}}\n\n",
                    without(ALIVE, rest(client)));
        }
        assertEquals(0, second.requests.get());
        assertEquals(1, gateway.counter("warmpath.requests", "outcome", "engine_error"));
    }

    /** A stream beside it tells the time. */
    @Test
    void who_has_asked_for_no_stream_gets_its_answer_alone() throws Exception {
        first.script(
                call -> {
                    pause();
                    if (call.bodyText().contains("stream")) {
                        answer(call, "a");
                    } else {
                        call.json(200, "{\"choices\":[]}");
                    }
                });
        try (RawClient whole = new RawClient(gateway.port);
                RawClient clock = new RawClient(gateway.port)) {
            whole.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
            await().until(() -> first.requests.get() == 1);
            clock.sendPost(Gateway.CHAT, Gateway.ASK);
            clock.readHead();
            read(clock, ALIVE + ALIVE + ALIVE);
            go.release(2);
            RawClient.Answer answer = whole.readAnswer();
            assertEquals(200, answer.status());
            assertEquals("{\"choices\":[]}", answer.body());
            assertEquals("application/json", answer.header("content-type"));
            rest(clock);
        }
    }

    @Test
    void clients_of_anthropics_api_get_pings() throws Exception {
        first.script(
                call -> {
                    pause();
                    call.streamHead();
                    call.chunk(ROLE + token("a"));
                    pause();
                    call.chunk(
                            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"
                                    + "\"stop\"}]}\n\n"
                                    + DONE);
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(
                    "/v1/messages",
                    "{\"model\":\"m\",\"stream\":true,\"max_tokens\":9,"
                            + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
            assertTrue(client.readHead().contains("text/event-stream"));
            assertEquals(PING + PING, read(client, PING + PING));
            go.release();
            String begun = without(PING, read(client, "\"a\"}}\n\n" + PING + PING));
            assertTrue(begun.startsWith("event: message_start\n"), begun);
            assertFalse(begun.contains(ALIVE), begun);
            go.release();
            String end = rest(client);
            assertTrue(end.contains("event: message_stop\n"), end);
            assertFalse(end.contains("\"error\""), end);
        }
    }

    @Test
    void anthropics_clients_get_its_error_event() throws Exception {
        first.script(
                call -> {
                    pause();
                    call.json(400, "{\"error\":{\"message\":\"prompt is too long\"}}");
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(
                    "/v1/messages",
                    "{\"model\":\"m\",\"stream\":true,\"max_tokens\":9,"
                            + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
            client.readHead();
            read(client, PING);
            go.release();
            String end = rest(client);
            assertTrue(end.contains("event: error\ndata: {\"type\":\"error\""), end);
            assertTrue(end.contains("\"type\":\"invalid_request_error\""), end);
            assertTrue(end.contains("prompt is too long"), end);
        }
    }

    @Test
    void frames_of_token_ids_are_kept_alive_by_comments() throws Exception {
        serve(EngineKind.SGLANG);
        first.script(
                call -> {
                    pause();
                    call.streamHead();
                    call.chunk(
                            "data: {\"text\":\"a\",\"output_ids\":[7],\"meta_info\":{\"id\":\"g\","
                                    + "\"finish_reason\":{\"type\":\"stop\"},"
                                    + "\"prompt_tokens\":2,\"completion_tokens\":1}}\n\n"
                                    + DONE);
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost("/router/generate", "{\"model\":\"m\",\"token_ids\":[1,2]}");
            client.readHead();
            assertEquals(ALIVE, read(client, ALIVE));
            go.release();
            String frames = without(ALIVE, rest(client));
            assertTrue(frames.startsWith("data: {"), frames);
            assertTrue(frames.contains("\"token_ids\":[7]"), frames);
        }
    }

    @Test
    void the_decision_is_told_at_the_end_though_the_head_was_out() throws Exception {
        String last =
                "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
        first.script(
                call -> {
                    pause();
                    call.streamHead();
                    call.chunk(ROLE + token("a") + last + DONE);
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK, "x-warmpath-explain: 1");
            String head = client.readHead();
            assertFalse(head.contains("x-warmpath-worker"), head);
            read(client, ALIVE);
            go.release();
            String rest = without(ALIVE, rest(client));
            assertTrue(rest.contains("\"nvext\":{\"routing\":{"), rest);
        }
    }

    @Test
    void a_request_that_takes_too_long_in_all_is_ended_and_its_engine_stopped() throws Exception {
        Semaphore gone = new Semaphore(0);
        first.script(
                call -> {
                    if (call.bodyText().contains("begin")) {
                        call.streamHead();
                        call.chunk(ROLE + token("a"));
                    }
                    if (call.awaitGone()) {
                        gone.release();
                    }
                });
        begin(GatewayOptions.defaults(), NEVER, Duration.ofMillis(500), UpstreamOptions.defaults());
        RawClient.Answer silent = gateway.post(Gateway.ASK);
        assertEquals(504, silent.status());
        assertTrue(silent.body().contains("request_timeout"), silent.body());
        RawClient.Answer whole = gateway.post(Gateway.ASK_WHOLE);
        assertEquals(504, whole.status());
        RawClient.Answer begun = gateway.post(Gateway.ASK.replace("hi", "begin"));
        assertEquals(200, begun.status());
        assertFalse(begun.broken());
        assertTrue(begun.body().startsWith(ROLE + token("a") + "data: {\"error\":"), begun.body());
        assertTrue(begun.body().contains("request_timeout"), begun.body());
        assertFalse(begun.body().contains("[DONE]"), begun.body());
        assertTrue(gone.tryAcquire(3, 10, TimeUnit.SECONDS), "the engine goes on");
        assertEquals(3, gateway.counter("warmpath.requests", "outcome", "timed_out"));
        assertEquals(0, second.requests.get());
    }
}
