package io.warmpath.api;

import static io.restassured.RestAssured.given;
import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.ROLE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.nullValue;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.restassured.path.json.JsonPath;
import io.restassured.response.ValidatableResponse;
import io.warmpath.adapter.tokenizer.DemoModel;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.TokensOptions;
import io.warmpath.tokens.model.ModelSources;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.CsvSource;

/** Anthropic's API over the real flow. Single quotes stand for double ones. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class MessagesApiTest {
    private static final String HI = "'messages':[{'role':'user','content':'hi'}]";
    private static final String ASK = "{'model':'m','max_tokens':9," + HI + "}";
    private static final String STREAM = "{'model':'m','max_tokens':9,'stream':true," + HI + "}";
    private static final String ANSWER =
            "{'id':'chatcmpl-1','object':'chat.completion','model':'real','choices':[{'index':0,"
                    + "'message':{'role':'assistant','reasoning_content':'hm','content':'Hello',"
                    + "'tool_calls':[{'id':'c','type':'function','function':{'name':'f',"
                    + "'arguments':'{\\'a\\':[1]}'}}]},'finish_reason':'tool_calls'}],"
                    + "'usage':{'prompt_tokens':50,'completion_tokens':3,'total_tokens':53,"
                    + "'prompt_tokens_details':{'cached_tokens':48}}}";

    /** As Qwen's are: nothing else is looked at. */
    private static final String SYSTEM_FIRST =
            """
            {%- for m in messages %}
            {%- if m.role == 'system' and not loop.first %}
            {{- raise_exception('System message must be at the beginning.') }}
            {%- endif %}
            {{- '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}
            {%- endfor %}
            """;

    @Parameter EnginePath path;

    private Gateway gateway;
    private StubEngine engine;
    private final ExecutorService threads =
            Executors.newSingleThreadExecutor(r -> new Thread(r, "token-thread"));

    private void start(StubEngine.Script script) throws Exception {
        gateway = new Gateway(path);
        engine = new StubEngine(script);
        gateway.serve(engine);
    }

    private static StubEngine.Script whole(int status, String json) {
        return call -> call.json(status, json.replace('\'', '"'));
    }

    @AfterEach
    void stop() throws Exception {
        if (gateway != null) {
            await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
            assertEquals(0, gateway.books.closedTwice.get());
            gateway.close();
        }
        threads.shutdown();
        if (engine != null) {
            engine.close();
            assertTrue(engine.failures.isEmpty(), () -> "engine: " + engine.failures);
        }
    }

    private ValidatableResponse post(String to, String json) {
        return given().port(gateway.port)
                .contentType("application/json")
                .body(json.replace('\'', '"'))
                .post(to)
                .then();
    }

    private ValidatableResponse ask(String json) {
        return post("/v1/messages", json);
    }

    private RawClient.Answer raw(String json, String... headers) throws Exception {
        return RawClient.post(gateway.port, "/v1/messages", json.replace('\'', '"'), headers);
    }

    private static List<String> names(String events) {
        return events.lines()
                .filter(l -> l.startsWith("event: "))
                .map(l -> l.substring(7))
                .toList();
    }

    @Test
    void an_answer_is_a_message_of_blocks() throws Exception {
        start(whole(200, ANSWER));
        ask(ASK).statusCode(200)
                .header("content-type", "application/json")
                .body("type", equalTo("message"))
                .body("id", equalTo("msg_1"))
                .body("role", equalTo("assistant"))
                .body("model", equalTo("m"))
                .body("content.type", equalTo(List.of("thinking", "text", "tool_use")))
                .body("content[0].thinking", equalTo("hm"))
                .body("content[1].text", equalTo("Hello"))
                .body("content[2].id", equalTo("c"))
                .body("content[2].name", equalTo("f"))
                .body("content[2].input.a", equalTo(List.of(1)))
                .body("stop_reason", equalTo("tool_use"))
                .body("stop_sequence", nullValue())
                .body("usage.input_tokens", equalTo(2))
                .body("usage.cache_read_input_tokens", equalTo(48))
                .body("usage.cache_creation_input_tokens", equalTo(0))
                .body("usage.output_tokens", equalTo(3));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'{\\'a\\':1' | {INVALID_JSON={\"a\":1}",
                "'7' | {INVALID_JSON=7}",
                "'' | {}",
                "null | {}",
            })
    void arguments_that_are_no_object_stay_readable(String arguments, String input)
            throws Exception {
        start(whole(200, ANSWER.replace("'{\\'a\\':[1]}'", arguments)));
        Object read = ask(ASK).statusCode(200).extract().path("content[2].input");
        assertEquals(input, read.toString());
    }

    @Test
    void the_engine_gets_a_chat_and_the_key_where_it_looks_for_it() throws Exception {
        start(whole(200, ANSWER));
        raw(ASK, "x-api-key: k", "anthropic-version: 2023-06-01");
        StubEngine.Call call = engine.calls.getFirst();
        assertTrue(call.head.startsWith("POST /v1/chat/completions HTTP/1.1"), call.head);
        assertEquals("Bearer k", call.header("authorization"));
        assertEquals(
                ("{'model':'m','max_tokens':9," + HI + "}").replace('\'', '"'), call.bodyText());
        raw(ASK, "x-api-key: k", "Authorization: Bearer own");
        assertEquals("Bearer own", engine.calls.getLast().header("authorization"));
    }

    @Test
    void routing_sees_the_same_chat_as_through_the_other_api() throws Exception {
        start(whole(200, ANSWER));
        gateway.post("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
        raw(ASK);
        assertEquals(2, gateway.tokens.seen.size());
        assertEquals(gateway.tokens.seen.get(0), gateway.tokens.seen.get(1));
        assertEquals(
                gateway.router.requests.get(0).promptTokens(),
                gateway.router.requests.get(1).promptTokens());
    }

    @Test
    void hints_and_reasons_work_as_in_the_other_api() throws Exception {
        start(whole(200, ANSWER));
        RawClient.Answer answer =
                raw(ASK, "x-warmpath-explain: 1", "x-request-id: mine", "x-tenant-id: t");
        assertEquals("mine", answer.header("x-request-id"));
        assertEquals("mine", answer.header("request-id"), answer.head());
        assertEquals("application/json", answer.header("content-type"));
        assertEquals("40", answer.header("x-warmpath-prompt-tokens"));
        assertTrue(engine.calls.getFirst().bodyText().contains("\"cache_salt\":\"t\""));
    }

    @Test
    void a_stream_is_passed_on_while_it_is_made() throws Exception {
        CountDownLatch read = new CountDownLatch(1);
        start(
                call -> {
                    call.streamHead();
                    call.chunk(ROLE + token("one"));
                    read.await();
                    call.chunk(token("two"));
                    call.chunk(
                            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
                                    + DONE);
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost("/v1/messages", STREAM.replace('\'', '"'), "x-warmpath-explain: 1");
            String head = client.readHead();
            assertEquals(200, RawClient.status(head), head);
            String first = client.readChunk();
            assertEquals(
                    List.of("message_start", "ping", "content_block_start", "content_block_delta"),
                    names(first));
            read.countDown();
            StringBuilder rest = new StringBuilder();
            for (String c = client.readChunk(); !c.isEmpty(); c = client.readChunk()) {
                rest.append(c);
            }
            assertEquals(
                    List.of(
                            "content_block_delta",
                            "content_block_stop",
                            "message_delta",
                            "message_stop"),
                    names(rest.toString()));
            assertTrue(rest.indexOf("\"nvext\":{\"routing\":{") > 0, rest::toString);
        }
        assertTrue(
                engine.calls.getFirst().bodyText().contains("\"include_usage\":true"),
                "the numbers of message_delta have to come from somewhere");
    }

    @Test
    void an_engine_that_dies_in_mid_stream_is_an_error_event() throws Exception {
        start(
                call -> {
                    call.streamHead();
                    call.chunk(ROLE + token("one"));
                    call.reset();
                });
        RawClient.Answer answer = raw(STREAM);
        assertEquals("error", names(answer.body()).getLast(), answer.body());
        assertTrue(answer.body().contains("{\"type\":\"error\",\"error\":{\"type\":\"api_error\""));
        assertFalse(answer.body().contains("message_stop"));
        assertFalse(answer.broken());
    }

    @Test
    void an_engine_that_dies_in_a_whole_answer_breaks_it_or_says_so() throws Exception {
        start(
                call -> {
                    call.send(
                            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                    + "Content-Length: 100\r\n\r\n{\"id\":");
                    call.reset();
                });
        try {
            RawClient.Answer answer = raw(ASK);
            assertTrue(answer.broken() || answer.status() == 502, answer.body());
        } catch (IOException e) {
            // Reset before a head: no part can be taken for the whole.
        }
    }

    @Test
    void a_client_that_leaves_stops_its_engine() throws Exception {
        CompletableFuture<Boolean> gone = new CompletableFuture<>();
        start(
                call -> {
                    call.streamHead();
                    call.chunk(ROLE + token("one"));
                    gone.complete(call.awaitGone());
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost("/v1/messages", STREAM.replace('\'', '"'));
            client.readHead();
            client.readChunk();
        }
        assertTrue(gone.get(20, TimeUnit.SECONDS));
        await().untilAsserted(
                        () ->
                                assertEquals(
                                        1,
                                        gateway.counter(
                                                "warmpath.requests", "outcome", "cancelled")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "400 | {'error':{'message':'too long','type':'x'}} | invalid_request_error"
                        + " | too long",
                "401 | {'error':'Unauthorized'} | authentication_error | Unauthorized",
                "404 | {'object':'error','message':'no model'} | not_found_error | no model",
                "422 | {'detail':[{'msg':'x'}]} | invalid_request_error |"
                        + " {\"detail\":[{\"msg\":\"x\"}]}",
                "429 | busy | rate_limit_error | busy",
                "500 | {'error':{'message':'oops'}} | api_error | oops",
                "200 | nonsense | api_error |"
                        + " The engine's answer cannot be read: it is no whole chat.",
            })
    void what_engines_refuse_is_refused_in_anthropics_words(
            int status, String body, String type, String message) throws Exception {
        start(whole(status, body));
        ask(ASK).statusCode(status == 200 ? 502 : status)
                .header("content-type", "application/json")
                .body("type", equalTo("error"))
                .body("error.type", equalTo(type))
                .body("error.message", equalTo(message));
    }

    @Test
    void what_the_gateway_refuses_is_refused_in_anthropics_words() throws Exception {
        start(whole(200, ANSWER));
        ask("{'model':'m'," + HI + "}")
                .statusCode(400)
                .body("type", equalTo("error"))
                .body("error.type", equalTo("invalid_request_error"))
                .body("error.message", containsString("max_tokens"));
        ask(ASK.replace("'m'", "'other'"))
                .statusCode(404)
                .body("error.type", equalTo("not_found_error"));
        ask("{" + HI + ",'max_tokens':1}")
                .statusCode(400)
                .body("error.message", containsString("model"));
        given().port(gateway.port)
                .get("/v1/messages")
                .then()
                .statusCode(405)
                .header("allow", "POST")
                .body("type", equalTo("error"));
        given().port(gateway.port)
                .get("/v1/messages/batches")
                .then()
                .statusCode(404)
                .body("error.type", equalTo("not_found_error"));
        gateway.fleet.workers(
                List.of(
                        Gateway.worker(
                                0, engine.url(), EngineKind.OPENAI, WorkerState.DRAINING, 1)));
        ask(ASK).statusCode(503).body("error.type", equalTo("overloaded_error"));
        assertEquals(0, engine.requests.get());
    }

    @Test
    void large_bodies_and_answers_are_read_off_the_event_loop() throws Exception {
        String text = "word ".repeat(4_000);
        engine = new StubEngine(whole(200, ANSWER.replace("Hello", text)));
        gateway = new Gateway(path, tokenizer(), threads);
        gateway.serve(engine);
        ask(ASK.replace("hi", text)).statusCode(200).body("content[1].text", equalTo(text));
        ask("{'x':'" + text + "'}").statusCode(400).body("type", equalTo("error"));
    }

    @Test
    void without_a_free_thread_large_bodies_are_told_to_come_back() throws Exception {
        engine = new StubEngine(whole(200, ANSWER));
        gateway =
                new Gateway(
                        path,
                        tokenizer(),
                        r -> {
                            throw new RejectedExecutionException();
                        });
        gateway.serve(engine);
        ask(ASK.replace("hi", "word ".repeat(4_000)))
                .statusCode(529)
                .body("error.type", equalTo("overloaded_error"));
        post("/v1/messages/count_tokens", ASK)
                .statusCode(529)
                .body("error.type", equalTo("overloaded_error"));
        ask(ASK).statusCode(200);
    }

    @ParameterizedTest
    @CsvSource({"true, 'system,user,system'", "false, 'system,user'"})
    void a_later_system_message_stays_where_the_models_template_takes_it(
            boolean taken, String roles, @TempDir Path folder) throws Exception {
        for (String name : List.of("tokenizer.json", "tokenizer_config.json")) {
            Files.copy(DemoModel.directory().resolve(name), folder.resolve(name));
        }
        if (!taken) {
            Files.writeString(folder.resolve("chat_template.jinja"), SYSTEM_FIRST);
        }
        gateway = new Gateway(path, tokenizer(folder), threads);
        engine = new StubEngine(whole(200, ANSWER));
        gateway.serve(engine);
        String later = "{'role':'user','content':'hi'},{'role':'system','content':'Be brief.'}";
        ask("{'model':'m','max_tokens':9,'system':'Be.','messages':[" + later + "]}")
                .statusCode(200);
        JsonPath sent = JsonPath.from(engine.calls.getFirst().bodyText());
        assertEquals(List.of(roles.split(",")), sent.getList("messages.role"));
        assertEquals(taken ? "Be." : "Be.\nBe brief.", sent.getString("messages[0].content"));
    }

    private static ModelTokens tokenizer() throws Exception {
        return tokenizer(DemoModel.directory());
    }

    private static ModelTokens tokenizer(Path directory) throws Exception {
        return new ModelTokens(
                ModelSources.of(Map.of(Gateway.MODEL, directory), null),
                new HuggingFaceModelLoader(),
                TokensOptions.DEFAULT,
                System::nanoTime);
    }

    @Test
    void tokens_are_counted_as_the_models_workers_render_them() throws Exception {
        gateway = new Gateway(path, tokenizer(), threads);
        gateway.fleet.workers(
                List.of(
                        Gateway.worker(
                                0,
                                URI.create("http://127.0.0.1:9"),
                                EngineKind.VLLM,
                                WorkerState.READY,
                                1)));
        String tool = "'name':'f','description':'d'";
        int expected =
                post(
                                "/tokenize",
                                "{'model':'m','messages':[{'role':'system','content':'S'},"
                                        + "{'role':'user','content':'hi'}],'tools':[{"
                                        + "'type':'function','function':{"
                                        + tool
                                        + ",'parameters':{'type':'object'}}}]}")
                        .statusCode(200)
                        .extract()
                        .path("count");
        post(
                        "/v1/messages/count_tokens",
                        "{'model':'m','system':'S',"
                                + HI
                                + ",'tools':[{"
                                + tool
                                + ",'input_schema':{'type':'object'}}]}")
                .statusCode(200)
                .body("input_tokens", equalTo(expected))
                .body("size()", equalTo(1));
    }

    @Test
    void tokens_that_are_not_known_are_not_guessed() throws Exception {
        start(whole(200, ANSWER));
        post("/v1/messages/count_tokens", ASK)
                .statusCode(400)
                .body("type", equalTo("error"))
                .body("error.message", containsString("No tokenizer is configured for `m`"));
        post("/v1/messages/count_tokens", ASK.replace("'m'", "'other'"))
                .statusCode(404)
                .body("error.type", equalTo("not_found_error"));
        post("/v1/messages/count_tokens", "{'model':'m'}")
                .statusCode(400)
                .body("error.message", containsString("messages"));
        assertNull(engine.calls.isEmpty() ? null : engine.calls.getFirst());
    }
}
