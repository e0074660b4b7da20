package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Counter;
import io.vertx.core.json.JsonObject;
import io.warmpath.access.Budgets;
import io.warmpath.access.Caller;
import io.warmpath.access.Grant;
import io.warmpath.api.client.ClientGate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.migration.MigrationOptions;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.profile.ModelFacts;
import io.warmpath.tokens.template.ChatTemplate;
import io.warmpath.tokens.template.JinjaChatTemplate;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker dies in mid-stream; the client reads on as if nothing had been. */
@ExtendWith(Leaks.class)
class MigrationTest {
    private static final String DONE = "data: [DONE]\n\n";
    private static final String COMPLETE = "/v1/completions";

    private EnginePath path = EnginePath.RAW;
    private Gateway gateway;
    private StubEngine first;
    private StubEngine second;
    private StubEngine third;

    @BeforeEach
    void start() throws Exception {
        gateway = gateway(new MigrationOptions(3, 4096, 1 << 20));
        first = new StubEngine(call -> begin(call, "A", 1, "Once", " upon"));
        second = new StubEngine(call -> goOn(call, "B", 2, " a", " time."));
        third = new StubEngine(call -> goOn(call, "C", 3, " a", " time."));
        serve(EngineKind.SGLANG);
    }

    private Gateway gateway(MigrationOptions options) throws Exception {
        return new Gateway(
                path,
                Gateway.upstream(
                        Duration.ofMillis(400), Duration.ofMillis(400), Duration.ofMillis(400)),
                options);
    }

    private void serve(EngineKind kind) {
        List<Worker> workers = new ArrayList<>();
        for (StubEngine e : List.of(first, second, third)) {
            workers.add(Gateway.worker(workers.size(), e.url(), kind, WorkerState.READY, 1));
        }
        gateway.fleet.workers(workers);
    }

    @AfterEach
    void stop() throws Exception {
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        assertEquals(0, gateway.migration.keptBytes());
        gateway.close();
        for (StubEngine e : List.of(first, second, third)) {
            e.close();
            assertTrue(e.failures.isEmpty(), () -> "engine: " + e.failures);
        }
    }

    private static String chunk(String id, int created, String choice) {
        return "data: {\"id\":\""
                + id
                + "\",\"object\":\"chat.completion.chunk\",\"created\":"
                + created
                + ",\"model\":\"m\",\"choices\":["
                + choice
                + "],\"usage\":null}\n\n";
    }

    static String said(String id, int created, String text) {
        return chunk(
                id,
                created,
                "{\"index\":0,\"delta\":{\"content\":\"" + text + "\"},\"finish_reason\":null}");
    }

    static String role(String id, int created) {
        return chunk(
                id,
                created,
                "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},"
                        + "\"finish_reason\":null}");
    }

    static String finish(String id, int created) {
        return chunk(id, created, "{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}");
    }

    private static String usage(String id, int created, int prompt, int completion, int cached) {
        return "data: {\"id\":\""
                + id
                + "\",\"object\":\"chat.completion.chunk\",\"created\":"
                + created
                + ",\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":"
                + prompt
                + ",\"total_tokens\":"
                + (prompt + completion)
                + ",\"completion_tokens\":"
                + completion
                + ",\"prompt_tokens_details\":{\"cached_tokens\":"
                + cached
                + "}}}\n\n";
    }

    /** Dies after these. */
    private static void begin(StubEngine.Call call, String id, int created, String... pieces)
            throws Exception {
        call.streamHead();
        call.chunk(role(id, created));
        for (String piece : pieces) {
            call.chunk(said(id, created, piece));
        }
        call.close();
    }

    private static void goOn(StubEngine.Call call, String id, int created, String... pieces)
            throws Exception {
        call.streamHead();
        call.chunk(role(id, created));
        for (String piece : pieces) {
            call.chunk(said(id, created, piece));
        }
        call.chunk(finish(id, created));
        if (call.bodyText().contains("\"include_usage\":true")) {
            call.chunk(usage(id, created, 42, 2, 42));
        }
        call.chunk(DONE);
        call.lastChunk();
    }

    private RawClient.Answer ask(String members, String... headers) throws Exception {
        return gateway.post(
                "{\"model\":\"m\",\"stream\":true,"
                        + members
                        + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
                headers);
    }

    private static void assertWhole(RawClient.Answer answer) {
        assertEquals(200, answer.status(), answer::body);
        assertFalse(answer.broken());
        assertEquals(
                normal(
                        role("A", 1)
                                + said("A", 1, "Once")
                                + said("A", 1, " upon")
                                + said("A", 1, " a")
                                + said("A", 1, " time.")
                                + finish("A", 1)
                                + DONE),
                normal(answer.body()));
    }

    /** Events as JSON values, for those that were written anew. */
    private static List<Object> normal(String body) {
        List<Object> events = new ArrayList<>();
        for (String event : body.split("\n\n", -1)) {
            String data = event.startsWith("data: {") ? event.substring(6) : "";
            events.add(data.isEmpty() ? event : new JsonObject(data).getMap());
        }
        return events;
    }

    private double count(String result, String reason) {
        Counter counter =
                gateway.meters
                        .find("warmpath.migrations")
                        .tag("result", result)
                        .tag("reason", reason)
                        .counter();
        assertNotNull(counter, result + " " + reason);
        return counter.count();
    }

    private void assertBroken(RawClient.Answer answer) {
        assertEquals(200, answer.status());
        assertTrue(answer.body().contains("\"error\""), answer.body());
        assertFalse(answer.body().contains("[DONE]"), answer.body());
        assertEquals(0, second.requests.get() + third.requests.get());
    }

    @ParameterizedTest
    @ArgumentsSource(EnginePath.Tried.class)
    void a_chat_goes_on_elsewhere_as_one_stream(EnginePath both) throws Exception {
        gateway.close();
        path = both;
        gateway = gateway(new MigrationOptions(3, 4096, 1 << 20));
        serve(EngineKind.SGLANG);
        assertWhole(ask(""));
        JsonObject asked = new JsonObject(second.calls.getFirst().bodyText());
        assertEquals(
                new JsonObject("{\"role\":\"assistant\",\"content\":\"Once upon\"}"),
                asked.getJsonArray("messages").getJsonObject(1));
        assertEquals(true, asked.getBoolean("continue_final_message"));
        assertEquals(false, asked.getBoolean("add_generation_prompt"));
        assertEquals(1, count("moved", "broke"));
        assertEquals(1, count("completed", "broke"));
        assertEquals(1, gateway.counter("warmpath.requests", "outcome", "ok"));
        assertEquals(List.of(0L), gateway.fleet.failures);
    }

    @Test
    void a_client_pays_for_what_was_made_before_and_after_the_move() throws Exception {
        gateway.close();
        Grant limited =
                new Grant("limited", "", false, List.of(), 0, 1000, "", 1, false, false, false);
        Caller caller = new Caller(limited, new Budgets(1), () -> 0);
        Duration soon = Duration.ofMillis(400);
        gateway =
                new Gateway(
                        path,
                        Gateway.upstream(soon, soon, soon),
                        new MigrationOptions(3, 4096, 1 << 20),
                        ClientGate.of(key -> caller, false));
        serve(EngineKind.SGLANG);
        assertWhole(ask("", "Authorization: Bearer key"));
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        // A prompt of 40, three events before the move and four after it: nobody counts tokens
        // here.
        assertEquals(1000 - 40 - 3 - 4, caller.tokens().remaining(0));
    }

    @Test
    void limits_on_length_count_what_was_said() throws Exception {
        ask("\"max_tokens\":9,\"max_completion_tokens\":8,\"min_tokens\":3,\"seed\":5,");
        JsonObject asked = new JsonObject(second.calls.getFirst().bodyText());
        assertEquals(7, asked.getInteger("max_tokens"));
        assertEquals(6, asked.getInteger("max_completion_tokens"));
        assertEquals(1, asked.getInteger("min_tokens"));
        assertEquals(5, asked.getInteger("seed"));
    }

    /** Every engine dies after two tokens: the last death leaves nothing to be asked for. */
    @Test
    void an_answer_that_has_its_length_at_the_limit_of_moves_gets_its_end_too() throws Exception {
        gateway.close();
        gateway = gateway(new MigrationOptions(2, 4096, 1 << 20));
        serve(EngineKind.SGLANG);
        second.script(call -> begin(call, "B", 2, " a", " time"));
        third.script(call -> begin(call, "C", 3, " there", " was"));
        RawClient.Answer answer = ask("\"max_tokens\":6,");
        assertTrue(answer.body().endsWith(DONE), answer.body());
        assertEquals(1, answer.body().split("\"length\"", -1).length - 1, answer.body());
        assertEquals(1, count("completed", "broke"));
    }

    @Test
    void an_answer_that_has_its_length_gets_its_end_here() throws Exception {
        RawClient.Answer answer = ask("\"max_tokens\":2,");
        assertEquals(
                normal(
                        role("A", 1)
                                + said("A", 1, "Once")
                                + said("A", 1, " upon")
                                + chunk(
                                                "A",
                                                1,
                                                "{\"index\":0,\"delta\":{},"
                                                        + "\"finish_reason\":\"length\"}")
                                        .replace(",\"usage\":null", "")
                                + DONE),
                normal(answer.body()));
        assertEquals(0, second.requests.get());
        assertEquals(1, count("completed", "broke"));
    }

    @Test
    void an_answer_that_lost_only_its_end_gets_it_here() throws Exception {
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(role("A", 1) + said("A", 1, "Once") + finish("A", 1));
                    call.close();
                });
        assertEquals(role("A", 1) + said("A", 1, "Once") + finish("A", 1) + DONE, ask("").body());
        assertEquals(1, count("completed", "broke"));
    }

    /** The prompt has 40 tokens, as the tokenizer says; each event with text is one here. */
    @Test
    void a_usage_that_is_lost_is_counted_here() throws Exception {
        String wants = "\"stream_options\":{\"include_usage\":true},";
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(role("A", 1) + said("A", 1, "Once") + finish("A", 1));
                    call.close();
                });
        assertEquals(
                normal(
                        role("A", 1)
                                + said("A", 1, "Once")
                                + finish("A", 1)
                                + bareUsage(40, 1)
                                + DONE),
                normal(ask(wants).body()));
        assertEquals(0, second.requests.get());
        assertEquals(1, count("completed", "broke"));
        // The same where the next worker loses it.
        first.script(call -> begin(call, "A", 1, "Once", " upon"));
        second.script(
                call -> {
                    call.streamHead();
                    call.chunk(role("B", 2) + said("B", 2, " a") + said("B", 2, " time."));
                    call.chunk(finish("B", 2) + usage("B", 2, 42, 2, 42).substring(0, 90));
                    call.close();
                });
        String moved = ask(wants).body();
        assertEquals(
                normal(bareUsage(40, 4) + DONE),
                normal(moved.substring(moved.lastIndexOf("data: {"))));
        // And where its length ends an answer.
        first.script(call -> begin(call, "A", 1, "Once", " upon"));
        String spent = ask(wants + "\"max_tokens\":2,").body();
        assertEquals(
                normal(bareUsage(40, 2) + DONE),
                normal(spent.substring(spent.lastIndexOf("data: {"))));
        assertTrue(spent.contains("\"length\""), spent);
    }

    private static String bareUsage(int prompt, int completion) {
        JsonObject chunk = new JsonObject(usage("A", 1, prompt, completion, 0).substring(6));
        chunk.getJsonObject("usage").remove("prompt_tokens_details");
        return "data: " + chunk.encode() + "\n\n";
    }

    @Test
    void the_usage_is_of_both_together() throws Exception {
        // The prompt has 40 tokens, as the tokenizer says; the second engine got two more.
        String body = ask("\"stream_options\":{\"include_usage\":true},").body();
        assertEquals(
                normal(usage("A", 1, 40, 4, 0) + DONE),
                normal(body.substring(body.lastIndexOf("data: {"))),
                "what the second engine found cached is not the client's");
    }

    /** Engines tell it with every chunk where the client wants that. */
    @Test
    void what_the_first_engine_found_cached_is_told() throws Exception {
        String told = usage("A", 1, 40, 1, 16);
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(role("A", 1) + said("A", 1, "Once"));
                    call.chunk(
                            said("A", 1, " upon")
                                    .replace(
                                            "\"usage\":null",
                                            told.substring(told.indexOf("\"usage\""))
                                                    .replace("}}\n\n", "}")
                                                    .strip()));
                    call.close();
                });
        second.script(call -> begin(call, "B", 2, " a"));
        third.script(
                call -> {
                    call.streamHead();
                    call.chunk(said("C", 3, " time.") + finish("C", 3));
                    call.chunk(usage("C", 3, 43, 1, 43) + DONE);
                    call.lastChunk();
                });
        String body = ask("\"stream_options\":{\"include_usage\":true},").body();
        assertEquals(
                normal(usage("A", 1, 40, 4, 16) + DONE),
                normal(body.substring(body.lastIndexOf("data: {"))));
        assertEquals(
                16, gateway.meters.get("warmpath.request.cached.tokens").summary().totalAmount());
    }

    /** Nothing had been said: what the next engine tells is the client's own. */
    @Test
    void an_answer_that_is_asked_for_anew_has_its_own_usage() throws Exception {
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(": ping\n\n");
                    call.close();
                });
        second.script(
                call -> {
                    call.streamHead();
                    call.chunk(role("B", 2) + said("B", 2, "Once") + finish("B", 2));
                    call.chunk(usage("B", 2, 41, 1, 32) + DONE);
                    call.lastChunk();
                });
        String body = ask("\"stream_options\":{\"include_usage\":true},").body();
        assertEquals(
                normal(usage("B", 2, 41, 1, 32) + DONE),
                normal(body.substring(body.lastIndexOf("data: {"))));
    }

    @Test
    void half_an_event_is_not_passed_on() throws Exception {
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(role("A", 1) + said("A", 1, "Once") + said("A", 1, " upon"));
                    call.chunk(said("A", 1, " a mouse").substring(0, 120));
                    call.close();
                });
        assertWhole(ask(""));
    }

    @Test
    void escapes_and_other_scripts_reach_the_next_engine_unharmed() throws Exception {
        first.script(call -> begin(call, "A", 1, "\\\"a\\n", "\u00e9\ud83d\ude00\\u4e2d", "\\\\"));
        ask("");
        JsonObject asked = new JsonObject(second.calls.getFirst().bodyText());
        assertEquals(
                "\"a\n\u00e9\ud83d\ude00\u4e2d\\",
                asked.getJsonArray("messages").getJsonObject(1).getString("content"));
    }

    @Test
    void a_stream_may_be_moved_again() throws Exception {
        second.script(call -> begin(call, "B", 2, " a"));
        third.script(call -> goOn(call, "C", 3, " time."));
        assertWhole(ask(""));
        JsonObject asked = new JsonObject(third.calls.getFirst().bodyText());
        assertEquals(
                "Once upon a",
                asked.getJsonArray("messages").getJsonObject(1).getString("content"));
        assertEquals(2, asked.getJsonArray("messages").size());
        assertEquals(2, count("moved", "broke"));
        assertEquals(1, count("completed", "broke"));
    }

    /** What of an event has come must not be taken for a part of the next engine's first one. */
    @Test
    void a_stream_that_broke_inside_an_event_may_be_moved_again() throws Exception {
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(role("A", 1) + said("A", 1, "Once") + said("A", 1, " upon"));
                    call.chunk(said("A", 1, " a mouse").substring(0, 120));
                    call.close();
                });
        second.script(call -> begin(call, "B", 2, " a"));
        third.script(call -> goOn(call, "C", 3, " time."));
        assertWhole(ask("\"max_tokens\":9,"));
        JsonObject asked = new JsonObject(third.calls.getFirst().bodyText());
        assertEquals(
                "Once upon a",
                asked.getJsonArray("messages").getJsonObject(1).getString("content"));
        assertEquals(6, asked.getInteger("max_tokens"));
    }

    @Test
    void what_nobody_got_of_a_worker_that_died_before_its_first_token_is_forgotten()
            throws Exception {
        first.script(call -> begin(call, "X", 9));
        second.script(call -> begin(call, "A", 1, "Once", " upon"));
        third.script(call -> goOn(call, "C", 3, " a", " time."));
        assertWhole(ask(""));
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 500, 503})
    void a_worker_that_does_not_take_it_is_followed_by_another(int status) throws Exception {
        second.script(call -> call.json(status, "{\"error\":{}}"));
        assertWhole(ask(""));
        assertEquals(1, second.requests.get());
    }

    @Test
    void a_worker_that_is_not_there_is_followed_by_another_and_does_not_count() throws Exception {
        second.kill();
        gateway.close();
        gateway = gateway(new MigrationOptions(1, 4096, 1 << 20));
        serve(EngineKind.SGLANG);
        assertWhole(ask(""));
    }

    @Test
    void a_worker_that_refuses_the_rest_ends_the_stream() throws Exception {
        second.script(call -> call.json(400, "{\"error\":{}}"));
        RawClient.Answer answer = ask("");
        assertTrue(answer.body().contains("status 400 to the rest"), answer.body());
        assertEquals(0, third.requests.get());
        assertEquals(1, count("failed", "broke"));
    }

    @Test
    void a_stalled_worker_is_left() throws Exception {
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(role("A", 1) + said("A", 1, "Once") + said("A", 1, " upon"));
                    assertTrue(call.awaitGone());
                });
        assertWhole(ask(""));
        assertEquals(1, count("completed", "stalled"));
    }

    @Test
    void as_often_as_it_may_and_no_more() throws Exception {
        gateway.close();
        gateway = gateway(new MigrationOptions(1, 4096, 1 << 20));
        serve(EngineKind.SGLANG);
        second.script(call -> begin(call, "B", 2, " a"));
        RawClient.Answer answer = ask("");
        assertTrue(answer.body().contains(" a\""), answer.body());
        assertTrue(answer.body().contains("\"error\""), answer.body());
        assertEquals(0, third.requests.get());
        assertEquals(1, count("failed", "broke"));
        assertEquals(0, count("refused", "limit"), "it had been moved");
    }

    @Test
    void switched_off_the_client_gets_an_error_event() throws Exception {
        gateway.close();
        gateway = gateway(MigrationOptions.OFF);
        serve(EngineKind.SGLANG);
        assertBroken(ask(""));
        for (Counter c : gateway.meters.find("warmpath.migrations").counters()) {
            assertEquals(0, c.count(), () -> c.getId().toString());
        }
    }

    @Test
    void a_completion_goes_on_behind_its_text() throws Exception {
        String text =
                "data: {\"id\":\"%s\",\"object\":\"text_completion\",\"created\":1,\"model\":\"m\","
                        + "\"choices\":[{\"index\":0,\"text\":\"%s\",\"finish_reason\":%s}]}\n\n";
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(text.formatted("A", "Once", "null"));
                    call.chunk(text.formatted("A", " upon ", "null"));
                    call.close();
                });
        second.script(
                call -> {
                    call.streamHead();
                    call.chunk(text.formatted("B", "a time", "null"));
                    call.chunk(text.formatted("B", "", "\"length\""));
                    call.chunk(DONE);
                    call.lastChunk();
                });
        for (EngineKind kind : List.of(EngineKind.SGLANG, EngineKind.VLLM)) {
            serve(kind);
            RawClient.Answer answer =
                    RawClient.post(
                            gateway.port,
                            COMPLETE,
                            "{\"model\":\"m\",\"prompt\":\"Tell: \",\"stream\":true}");
            assertEquals(
                    text.formatted("A", "Once", "null")
                            + text.formatted("A", " upon ", "null")
                            + text.formatted("A", "a time", "null")
                            + text.formatted("A", "", "\"length\"")
                            + DONE,
                    answer.body());
            JsonObject asked = new JsonObject(second.calls.getLast().bodyText());
            assertEquals("Tell: Once upon ", asked.getString("prompt"));
            assertEquals(14, asked.getInteger("max_tokens"), "16 is the engines' default");
        }
    }

    @Test
    void a_keep_alive_comment_before_the_first_token_costs_nothing() throws Exception {
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(": ping\n\n");
                    call.close();
                });
        second.script(call -> goOn(call, "B", 2, "Once"));
        assertEquals(
                ": ping\n\n" + role("B", 2) + said("B", 2, "Once") + finish("B", 2) + DONE,
                ask("").body());
        JsonObject asked = new JsonObject(second.calls.getFirst().bodyText());
        assertEquals(1, asked.getJsonArray("messages").size());
    }

    @Test
    void an_anthropic_stream_goes_on_as_well() throws Exception {
        RawClient.Answer answer =
                RawClient.post(
                        gateway.port,
                        "/v1/messages",
                        "{\"model\":\"m\",\"stream\":true,\"max_tokens\":50,"
                                + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
        StringBuilder text = new StringBuilder();
        for (String line : answer.body().split("\n", -1)) {
            if (line.startsWith("data: {")) {
                JsonObject delta = new JsonObject(line.substring(6)).getJsonObject("delta");
                text.append(delta == null ? "" : delta.getString("text", ""));
            }
        }
        assertEquals("Once upon a time.", text.toString());
        assertTrue(answer.body().contains("message_stop"), answer.body());
        assertFalse(answer.body().contains("\"error\""), answer.body());
    }

    @Test
    void what_forbids_going_on_is_an_error_event_and_counted() throws Exception {
        for (String[] c :
                new String[][] {
                    {"several", "'n':2"},
                    {"several", "'best_of':3"},
                    {"logprobs", "'logprobs':true,'top_logprobs':2"},
                    {"echo", "'echo':true"},
                    {"structured", "'response_format':{'type':'json_object'}"},
                    {"structured", "'guided_regex':'a+'"},
                    {"tool_calls", "'tool_choice':'required','tools':[]"},
                    {"session", "'session_id':'s'"},
                    {"prompt", "'continue_final_message':true"},
                    {"stop", "'stop':['xx','on the']"},
                    {"pinned", "'nvext':{'backend_instance_id':0}"}
                }) {
            double before = count("refused", c[0]);
            assertBroken(ask(c[1].replace('\'', '"') + ","));
            assertEquals(before + 1, count("refused", c[0]), c[1]);
        }
        // None of these does.
        ask("\"n\":1,\"logprobs\":false,\"response_format\":{\"type\":\"text\"},\"stop\":[\"u\"],");
        assertEquals(1, count("completed", "broke"));
    }

    @Test
    void what_was_said_may_forbid_it() throws Exception {
        for (String[] c :
                new String[][] {
                    {"tool_calls", "'tool_calls':[{'index':0,'function':{'name':'f'}}]"},
                    {"reasoning", "'reasoning_content':'hm'"},
                    {"reasoning", "'reasoning':'hm'"}
                }) {
            first.script(
                    call -> {
                        call.streamHead();
                        call.chunk(role("A", 1) + said("A", 1, "Once"));
                        String delta = c[1].replace('\'', '"');
                        call.chunk(chunk("A", 1, "{\"index\":0,\"delta\":{" + delta + "}}"));
                        call.close();
                    });
            double before = count("refused", c[0]);
            assertBroken(ask(""));
            assertEquals(before + 1, count("refused", c[0]), c[1]);
        }
    }

    @Test
    void engines_of_unknown_kind_are_not_asked() throws Exception {
        serve(EngineKind.OPENAI);
        assertBroken(ask(""));
        assertEquals(1, count("refused", "engine_kind"));
        gateway.fleet.workers(
                List.of(
                        Gateway.worker(0, first.url(), EngineKind.VLLM, WorkerState.READY, 1),
                        Gateway.worker(1, second.url(), EngineKind.OPENAI, WorkerState.READY, 1)));
        assertBroken(ask(""));
        assertEquals(1, count("refused", "no_worker"));
    }

    private static ChatTemplate template(String content) {
        return new JinjaChatTemplate(
                Template.compile(
                        "{% for m in messages %}<{{ m.role }}>{{ "
                                + content
                                + " }}</>{% endfor %}"
                                + "{% if add_generation_prompt %}<assistant>{% endif %}"),
                null,
                Map.of(),
                ModelFacts.UNKNOWN,
                Clock.systemUTC(),
                null);
    }

    private void assertMoved(String said) throws Exception {
        second.requests.set(0);
        assertTrue(ask("").body().endsWith(finish("A", 1) + DONE));
        JsonObject asked = new JsonObject(second.calls.getLast().bodyText());
        assertEquals(1, second.requests.getAndSet(0));
        assertEquals(said, asked.getJsonArray("messages").getJsonObject(1).getString("content"));
    }

    @Test
    void a_template_of_vllm_may_take_off_white_space_and_sglang_does_not() throws Exception {
        first.script(call -> begin(call, "A", 1, "Once", " upon\\n"));
        assertMoved("Once upon\n");
        serve(EngineKind.VLLM);
        assertBroken(ask(""));
        assertEquals(1, count("refused", "white_space"));
        gateway.tokens.template = template("m.content | trim");
        assertBroken(ask(""));
        assertEquals(1, count("refused", "template"));
        gateway.tokens.template = template("m.content");
        assertMoved("Once upon\n");
        first.script(call -> begin(call, "A", 1, " Once", " upon"));
        assertMoved(" Once upon");
    }

    /** The one that would be next does not, the one behind it does. */
    @Test
    void who_goes_on_exactly_is_asked() throws Exception {
        gateway.fleet.workers(
                List.of(
                        Gateway.worker(0, first.url(), EngineKind.VLLM, WorkerState.READY, 1),
                        Gateway.worker(1, third.url(), EngineKind.VLLM, WorkerState.READY, 1),
                        Gateway.worker(2, second.url(), EngineKind.SGLANG, WorkerState.READY, 1)));
        first.script(call -> begin(call, "A", 1, "Once", " upon\\n"));
        gateway.tokens.template = template("m.content | trim");
        assertMoved("Once upon\n");
        assertEquals(0, third.requests.get());
    }

    /** The self-check has found that the engine's prompts are others. */
    @Test
    void a_template_that_is_not_the_engines_proves_nothing() throws Exception {
        serve(EngineKind.VLLM);
        gateway.tokens.template = template("m.content");
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(said("X", 1, "x") + finish("X", 1) + usage("X", 1, 77, 1, 0) + DONE);
                    call.lastChunk();
                });
        for (int i = 0; i < 50; i++) {
            ask("\"stream_options\":{\"include_usage\":true},");
        }
        first.script(call -> begin(call, "A", 1, "Once", " upon\\n"));
        assertBroken(ask(""));
        assertEquals(1, count("refused", "white_space"));
    }

    @Test
    void what_is_too_large_to_be_kept_is_not_kept() throws Exception {
        assertBroken(ask("\"user\":\"" + "x".repeat(5000) + "\","));
        assertEquals(1, count("refused", "too_large"));
        first.script(call -> begin(call, "A", 1, "x".repeat(3000), "y".repeat(3000)));
        assertBroken(ask(""));
        assertEquals(2, count("refused", "too_large"));
    }

    @Test
    void token_ids_in_and_out_are_not_joined() throws Exception {
        first.script(
                call -> {
                    call.streamHead();
                    call.chunk(
                            "data: {\"text\":\"\",\"output_ids\":[7],\"meta_info\":{\"id\":\"g\","
                                    + "\"prompt_tokens\":2,\"completion_tokens\":1}}\n\n");
                    call.close();
                });
        RawClient.Answer answer =
                RawClient.post(
                        gateway.port, "/router/generate", "{\"model\":\"m\",\"token_ids\":[1,2]}");
        assertEquals(200, answer.status(), answer::body);
        assertEquals(1, count("refused", "token_form"));
        assertEquals(0, second.requests.get());
    }

    @Test
    void an_answer_that_is_no_stream_is_broken() throws Exception {
        first.script(
                call -> {
                    call.send(
                            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:"
                                    + " 100\r\n\r\n{\"half\":");
                    call.close();
                });
        gateway.post(Gateway.ASK_WHOLE);
        assertEquals(1, count("refused", "not_a_stream"));
        assertEquals(0, second.requests.get());
    }

    @Test
    void a_client_that_leaves_between_two_workers_leaves_nothing() throws Exception {
        second.script(
                call -> {
                    call.streamHead();
                    assertTrue(call.awaitGone());
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead();
            await().until(() -> second.requests.get() == 1);
        }
        await().untilAsserted(
                        () ->
                                assertEquals(
                                        1,
                                        gateway.counter(
                                                "warmpath.requests", "outcome", "cancelled")));
    }
}
