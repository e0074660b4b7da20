package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.SessionSupport;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.agent.SessionCloser.Result;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.session.ControlledSessions.Event;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sessions that a client opens, on an engine whose every answer the test decides. */
class SessionControlTest {
    private static final String EXPLAIN = "x-warmpath-explain: 1";

    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.RAW);
        engine = new StubEngine(this::serve);
        workers(worker(SessionSupport.STREAMING, 10_000));
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        engine.close();
    }

    private void workers(Worker... all) {
        gateway.fleet.workers(List.of(all));
    }

    private Worker worker(SessionSupport sessions, int blocks) {
        Worker w = Gateway.worker(0, engine.url(), EngineKind.SGLANG, WorkerState.READY, 1);
        return w.toBuilder().capacity(new Capacity(0, blocks)).sessions(sessions).build();
    }

    /** As an engine that has sessions. */
    private void serve(StubEngine.Call call) throws Exception {
        switch (path(call)) {
            case "/open_session" -> call.json(200, "\"id\"");
            case "/close_session" -> call.json(200, "");
            case "/generate" -> call.json(200, generated(40));
            default -> call.json(200, "{\"id\":\"chat\"}");
        }
    }

    private static String generated(int prompt) {
        return "{\"text\":\"ok\",\"output_ids\":[7,8],\"meta_info\":{\"id\":\"x\",\"finish_reason\":"
                + "{\"type\":\"stop\",\"matched\":8},\"prompt_tokens\":"
                + prompt
                + ",\"completion_tokens\":2,\"cached_tokens\":3}}";
    }

    private static String path(StubEngine.Call call) {
        return call.head.split(" ", 3)[1];
    }

    private List<StubEngine.Call> calls(String path) {
        return engine.calls.stream().filter(c -> path(c).equals(path)).toList();
    }

    private static String turn(String action, String members) {
        return "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}"
                + (!action.equals("open") ? ",{\"role\":\"assistant\",\"content\":\"ok\"}" : "")
                + "]"
                + members
                + ",\"nvext\":{\"session_control\":{\"session_id\":\"s\""
                + (action.isEmpty() ? "" : ",\"action\":\"" + action + "\",\"timeout\":60")
                + "}}}";
    }

    private RawClient.Answer ask(String action, String... headers) throws Exception {
        return gateway.post(turn(action, ""), headers);
    }

    private static JsonNode json(StubEngine.Call call) throws Exception {
        return new ObjectMapper().readTree(call.bodyText());
    }

    private long counted(Event event) {
        return gateway.controlled.counted(event);
    }

    @Test
    void the_engine_is_asked_to_open_before_it_generates() throws Exception {
        RawClient.Answer answer = ask("open", EXPLAIN, "authorization: Bearer k");
        assertEquals(200, answer.status(), answer::body);
        assertEquals("opened;streaming", answer.header("x-warmpath-session"));
        assertTrue(answer.body().contains("\"content\":\"ok\""), answer::body);
        assertEquals(
                List.of("/open_session", "/generate"),
                engine.calls.stream().map(SessionControlTest::path).toList());
        JsonNode open = json(engine.calls.getFirst());
        assertEquals(90, open.path("timeout").asInt(), "the engine waits longer than the gateway");
        assertTrue(open.path("streaming").asBoolean() && open.has("capacity_of_str_len"));
        assertEquals("Bearer k", engine.calls.getFirst().header("authorization"));
        JsonNode generate = json(engine.calls.getLast());
        assertEquals(open.path("session_id"), generate.at("/session_params/id"));
        assertEquals(40, generate.path("input_ids").size());
        assertFalse(generate.has("nvext"));
    }

    @Test
    void an_engine_that_does_not_open_fails_the_request_and_binds_nothing() throws Exception {
        engine.script(call -> call.json(400, "{\"error\":{\"message\":\"too many sessions\"}}"));
        RawClient.Answer answer = ask("open");
        assertEquals(502, answer.status());
        assertTrue(answer.body().contains("session_open_failed"), answer::body);
        assertTrue(answer.body().contains("w0") && answer.body().contains("too many sessions"));
        assertEquals(0, gateway.controlled.size());
        assertEquals(1, counted(Event.OPEN_FAILED));
        assertEquals(0, calls("/generate").size());
    }

    @Test
    void an_engine_that_does_not_answer_is_not_waited_for() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        engine.script(
                call -> {
                    if (path(call).equals("/open_session")) {
                        end.await(20, TimeUnit.SECONDS);
                    } else {
                        serve(call);
                    }
                });
        RawClient.Answer answer = ask("open");
        end.countDown();
        assertEquals(502, answer.status());
        assertTrue(answer.body().contains("no answer within 2000 ms"), answer::body);
        assertEquals(0, gateway.controlled.size());
        await().until(() -> calls("/close_session").size() == 1); // it may have opened it
    }

    @Test
    void a_client_that_leaves_while_its_session_opens_leaves_none_behind() throws Exception {
        CountDownLatch opening = new CountDownLatch(1);
        CountDownLatch gone = new CountDownLatch(1);
        engine.script(
                call -> {
                    if (path(call).equals("/open_session")) {
                        opening.countDown();
                        gone.await(20, TimeUnit.SECONDS);
                    }
                    serve(call);
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, turn("open", ""));
            assertTrue(opening.await(10, TimeUnit.SECONDS));
        }
        await().until(() -> gateway.controlled.size() == 0);
        int before = calls("/close_session").size();
        gone.countDown();
        await().until(() -> calls("/close_session").size() > before);
        JsonNode open = json(calls("/open_session").getFirst());
        assertEquals(
                open.path("session_id"),
                json(calls("/close_session").getLast()).path("session_id"));
        assertEquals(0, calls("/generate").size());
    }

    @Test
    void a_second_turn_at_once_runs_beside_the_session() throws Exception {
        ask("open");
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch second = new CountDownLatch(1);
        gateway.tokens.ids = new int[50];
        gateway.tokens.ids[40] = 7;
        gateway.tokens.ids[41] = 8;
        engine.script(
                call -> {
                    if (path(call).equals("/generate")) {
                        first.countDown();
                        second.await(20, TimeUnit.SECONDS);
                        call.json(200, generated(50));
                    } else {
                        serve(call);
                    }
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, turn("", ""), EXPLAIN);
            assertTrue(first.await(10, TimeUnit.SECONDS));
            RawClient.Answer other = ask("", EXPLAIN);
            assertEquals("beside;sticky", other.header("x-warmpath-session"), other::body);
            second.countDown();
            RawClient.Answer kept = client.readAnswer();
            assertEquals("kept;streaming", kept.header("x-warmpath-session"));
        }
        assertEquals(8, json(calls("/generate").getLast()).path("input_ids").size(), "what is new");
        assertEquals(52, gateway.controlled.pinned(0));
    }

    @Test
    void what_an_engine_counts_otherwise_is_not_appended_to() throws Exception {
        ask("open");
        gateway.tokens.ids = new int[50];
        gateway.tokens.ids[40] = 7;
        gateway.tokens.ids[41] = 8;
        engine.script(
                call -> {
                    if (path(call).equals("/generate")) {
                        call.json(200, generated(51)); // one more than it should hold
                    } else {
                        serve(call);
                    }
                });
        assertEquals("kept;streaming", ask("", EXPLAIN).header("x-warmpath-session"));
        assertEquals(0, gateway.controlled.pinned(0));
        await().until(() -> calls("/close_session").size() == 1);
        engine.script(this::serve);
        assertEquals("reopened;streaming", ask("", EXPLAIN).header("x-warmpath-session"));
        assertEquals(50, json(calls("/generate").getLast()).path("input_ids").size());
    }

    @Test
    void a_session_that_nobody_uses_is_closed_on_the_engine() throws Exception {
        ask("open");
        gateway.sessionNanos.addAndGet(Duration.ofSeconds(59).toNanos());
        gateway.controlled.reap();
        assertEquals(1, gateway.controlled.size());
        assertEquals("kept;streaming", same(EXPLAIN));
        gateway.sessionNanos.addAndGet(Duration.ofSeconds(59).toNanos());
        gateway.controlled.reap();
        assertEquals(1, gateway.controlled.size(), "each turn counts anew");
        gateway.sessionNanos.addAndGet(Duration.ofSeconds(2).toNanos());
        gateway.controlled.reap();
        assertEquals(0, gateway.controlled.size());
        assertEquals(1, counted(Event.EXPIRED));
        await().until(() -> gateway.closer.counted(Result.OK) == 1);
        RawClient.Answer late = ask("", EXPLAIN);
        assertEquals(200, late.status(), "it brings its history");
        assertEquals("kept", late.header("x-warmpath-session"), "it still goes where it was");
        assertEquals(1, counted(Event.UNKNOWN));
    }

    /** A turn that goes on where the first one ended. */
    private String same(String... headers) throws Exception {
        gateway.tokens.ids = new int[50];
        gateway.tokens.ids[40] = 7;
        gateway.tokens.ids[41] = 8;
        engine.script(
                call -> {
                    if (path(call).equals("/generate")) {
                        call.json(200, generated(50));
                    } else {
                        serve(call);
                    }
                });
        return ask("", headers).header("x-warmpath-session");
    }

    @Test
    void a_close_is_tried_again_and_then_given_up() throws Exception {
        ask("open");
        engine.script(
                call -> {
                    if (path(call).equals("/close_session")) {
                        call.json(500, "{}");
                    } else {
                        serve(call);
                    }
                });
        gateway.controlled.closeAll();
        await().atMost(Duration.ofSeconds(20))
                .until(() -> gateway.closer.counted(Result.FAILED) == 1);
        assertEquals(3, calls("/close_session").size());
        assertEquals(0, gateway.closer.waiting());
    }

    @Test
    void a_worker_that_is_gone_is_not_told_of_closes() throws Exception {
        ask("open");
        workers();
        gateway.controlled.closeAll();
        await().until(() -> gateway.closer.counted(Result.GONE) == 1);
        assertEquals(0, calls("/close_session").size());
    }

    @Test
    void a_close_opens_nothing() throws Exception {
        ask("open");
        Worker again = worker(SessionSupport.STREAMING, 10_000);
        workers(again.toBuilder().ranks(List.of(new Worker.Rank(0, new WorkerSlot(77)))).build());
        assertEquals("gone;sticky", ask("close", EXPLAIN).header("x-warmpath-session"));
        await().until(() -> gateway.closer.counted(Result.GONE) == 1);
        assertEquals(1, calls("/open_session").size(), "that process is another one");
        assertEquals(0, gateway.controlled.size());
    }

    @Test
    void a_tag_goes_with_the_whole_prompt_where_the_engine_has_tags() throws Exception {
        workers(worker(SessionSupport.RADIX, 100));
        RawClient.Answer answer = ask("open", EXPLAIN);
        assertEquals("opened;radix", answer.header("x-warmpath-session"));
        assertEquals(1, engine.calls.size(), "nothing has to be opened");
        JsonNode sent = json(engine.calls.getFirst());
        assertTrue(sent.path("session_id").asText().startsWith("wp-"));
        assertEquals("hi", sent.at("/messages/0/content").asText());
        ask("close");
        await().until(() -> calls("/close_session").size() == 1);
        assertEquals(
                sent.path("session_id"),
                json(calls("/close_session").getFirst()).path("session_id"));
        assertEquals("/close_session", path(engine.calls.getLast()), "after the answer");
    }

    private static String saying(String text) {
        return "{\"id\":\"c\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":"
                + message("assistant", text)
                + ",\"finish_reason\":\"stop\"}]}";
    }

    private static String message(String role, String text) {
        return "{\"role\":\"" + role + "\",\"content\":\"" + text + "\"}";
    }

    private RawClient.Answer say(String action, String... messages) throws Exception {
        return gateway.post(
                "{\"model\":\"m\",\"messages\":["
                        + String.join(",", messages)
                        + "],\"nvext\":{\"session_control\":{\"session_id\":\"s\""
                        + (action.isEmpty() ? "" : ",\"action\":\"" + action + "\",\"timeout\":60")
                        + "}}}",
                EXPLAIN);
    }

    /** What the engine has been asked last, as texts. */
    private List<String> asked() throws Exception {
        return json(engine.calls.getLast()).path("messages").findValuesAsText("content");
    }

    @Test
    void a_turn_may_bring_the_history_and_the_next_one_only_what_is_new() throws Exception {
        workers(worker(SessionSupport.STICKY, 10_000));
        engine.script(call -> call.json(200, saying("a" + engine.calls.size())));
        say("open", message("user", "one"));
        assertEquals(List.of("one"), asked());
        say("", message("user", "one"), message("assistant", "a1"), message("user", "two"));
        assertEquals(List.of("one", "a1", "two"), asked());
        RawClient.Answer third = say("", message("user", "three"));
        assertEquals(200, third.status(), third::body);
        assertEquals(List.of("one", "a1", "two", "a2", "three"), asked());
        say("", message("user", "four"));
        assertEquals(List.of("one", "a1", "two", "a2", "three", "a3", "four"), asked());
        say("", message("user", "short"), message("assistant", "!"), message("user", "five"));
        say("close", message("user", "six"));
        assertEquals(List.of("short", "!", "five", "a5", "six"), asked(), "as the client told it");
    }

    /** A template may need it between two calls of tools. */
    @Test
    void what_an_answer_has_thought_is_part_of_the_history_where_there_is_room() throws Exception {
        workers(worker(SessionSupport.STICKY, 10_000));
        String[] thoughts = {"hm", "x".repeat(5_000)};
        engine.script(
                call ->
                        call.json(
                                200,
                                saying("ok")
                                        .replace(
                                                "\"content\":\"ok\"",
                                                "\"content\":\"ok\",\"reasoning\":\""
                                                        + thoughts[engine.calls.size() - 1]
                                                        + "\"")));
        say("open", message("user", "one"));
        say("", message("user", "two"));
        engine.script(call -> call.json(200, saying("ok")));
        say("close", message("user", "three"));
        JsonNode sent = json(engine.calls.getLast()).path("messages");
        assertEquals(List.of("one", "ok", "two", "ok", "three"), asked());
        assertEquals("hm", sent.at("/1/reasoning_content").asText());
        assertFalse(sent.get(3).has("reasoning_content"), "it is longer than all that is kept");
    }

    @Test
    void a_history_too_long_to_be_kept_is_asked_for_and_never_a_part_of_it_used() throws Exception {
        workers(worker(SessionSupport.STICKY, 10_000));
        engine.script(call -> call.json(200, saying("ok")));
        say("open", message("user", "one"));
        assertEquals(200, say("", message("user", "x".repeat(5_000))).status());
        int before = engine.calls.size();
        RawClient.Answer answer = say("", message("user", "three"));
        assertEquals(409, answer.status(), answer::body);
        assertTrue(answer.body().contains("session_history_unknown"), answer::body);
        assertTrue(answer.body().contains("`s`") && answer.body().contains("`open`"));
        assertEquals(before, engine.calls.size());
        assertEquals(1, counted(Event.NOT_KEPT));
        say("", message("user", "one"), message("assistant", "ok"), message("user", "two"));
        assertEquals(200, say("", message("user", "three")).status());
        assertEquals(List.of("one", "ok", "two", "ok", "three"), asked());
    }

    @Test
    void a_further_turn_shows_the_time_that_its_session_was_opened_with() throws Exception {
        workers(worker(SessionSupport.STICKY, 10_000));
        engine.script(call -> call.json(200, saying("ok")));
        assertTrue(hints(say("open", message("user", "one"))).endsWith("=open:60s:s"));
        assertTrue(hints(say("", message("user", "two"))).endsWith("=continue:60s:s"));
        gateway.sessionNanos.addAndGet(Duration.ofSeconds(61).toNanos());
        String late =
                hints(
                        say(
                                "",
                                message("user", "1"),
                                message("assistant", "2"),
                                message("user", "3")));
        assertTrue(late.endsWith("=continue:-:s"), "it is not open: " + late);
    }

    private static String hints(RawClient.Answer answer) {
        return String.valueOf(answer.header("x-warmpath-hints"));
    }

    @Test
    void an_engine_that_does_not_say_what_it_holds_pins_nothing() throws Exception {
        workers(worker(SessionSupport.STREAMING, 0));
        assertEquals("capped;sticky", ask("open", EXPLAIN).header("x-warmpath-session"));
        assertEquals(1, counted(Event.CAPPED));
        assertEquals(0, calls("/open_session").size());
    }

    @Test
    void tools_and_the_like_are_never_lost_on_the_way() throws Exception {
        for (String members :
                List.of(
                        ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]",
                        ",\"response_format\":{\"type\":\"json_object\"}",
                        ",\"n\":2",
                        ",\"logprobs\":true")) {
            RawClient.Answer answer = gateway.post(turn("open", members), EXPLAIN);
            assertEquals("opened;sticky", answer.header("x-warmpath-session"), members);
        }
        assertEquals(0, calls("/generate").size());
        String usual = ",\"n\":1,\"tools\":[],\"stop\":[\"x\"],\"max_completion_tokens\":5";
        assertEquals(
                "opened;streaming",
                gateway.post(turn("open", usual), EXPLAIN).header("x-warmpath-session"));
        JsonNode sampling = json(calls("/generate").getLast()).path("sampling_params");
        assertEquals("{\"stop\":[\"x\"],\"max_new_tokens\":5}", sampling.toString());
    }
}
