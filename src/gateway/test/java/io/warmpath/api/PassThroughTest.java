package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.routing.Part;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.upstream.AnswerTimeouts;
import io.warmpath.upstream.UpstreamOptions;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Embeddings, rerank, speech, images: a worker is chosen, the rest is passed on as it is. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class PassThroughTest {
    private static final String EMBED = "/v1/embeddings";
    private static final String NOT_EXACT = "warmpath.predictions.not.exact";
    private static final String ASK = "{\"model\":\"m\",\"input\":[\"a\",\"b\"],\"odd\":1e400}";

    @Parameter EnginePath path;

    private Gateway gateway;
    private StubEngine engine;

    private void start(UpstreamOptions upstream, StubEngine.Script script) throws Exception {
        gateway = new Gateway(path, GatewayOptions.defaults(), upstream, Runnable::run);
        engine = new StubEngine(script);
        gateway.serve(engine);
    }

    private void start(StubEngine.Script script) throws Exception {
        start(UpstreamOptions.defaults(), script);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/embeddings",
                "/v1/rerank",
                "/v2/rerank",
                "/rerank",
                "/v1/score",
                "/score",
                "/v1/classify",
                "/classify",
                "/pooling",
                "/v1/moderations",
                "/v1/responses",
                "/v1/audio/speech",
                "/v1/images/generations"
            })
    void request_and_answer_are_passed_on_byte_for_byte(String api) throws Exception {
        start(call -> call.json(200, "{ \"data\" : [] }"));
        RawClient.Answer answer = RawClient.post(gateway.port, api + "?x=1", ASK);
        assertEquals(200, answer.status());
        assertEquals("{ \"data\" : [] }", answer.body());
        assertEquals("15", answer.header("content-length"));
        StubEngine.Call call = engine.calls.get(0);
        assertEquals(ASK, call.bodyText());
        assertTrue(call.head.startsWith("POST " + api + "?x=1 HTTP/1.1\r\n"), call.head);
        assertEquals(405, RawClient.request(gateway.port, "GET", api).status());
    }

    @Test
    void responses_and_embeddings_go_where_their_input_is_cached_and_scores_by_load()
            throws Exception {
        start(call -> call.json(200, "{}"));
        String ask = "{\"model\":\"m\",\"input\":\"hi\",\"instructions\":\"be brief\"}";
        RawClient.Answer answer =
                RawClient.post(gateway.port, "/v1/responses", ask, "x-warmpath-explain: 1");
        assertEquals("40", answer.header("x-warmpath-prompt-tokens"));
        assertEquals("40", String.valueOf(gateway.router.requests.getLast().promptTokens()));
        assertEquals(ask, engine.calls.getLast().bodyText());
        assertEquals(
                2,
                ((PromptInput.Conversation) gateway.tokens.seen.getLast())
                        .source()
                        .get()
                        .messages()
                        .size());
        // What is not understood has no tokens, is counted, and is passed on all the same.
        gateway.tokens.ids = null;
        answer = RawClient.post(gateway.port, "/v1/responses", ASK, "x-warmpath-explain: 1");
        assertEquals(200, answer.status());
        assertEquals(
                "", String.valueOf(answer.header("x-warmpath-prompt-tokens")).replace("null", ""));
        assertEquals(
                1,
                gateway.meters
                        .get("warmpath.requests.without.tokens")
                        .tag("cause", "unknown")
                        .counter()
                        .count());
        int asked = gateway.tokens.asked.get();
        RawClient.post(gateway.port, EMBED, "{\"model\":\"m\",\"input\":{\"image\":1}}");
        RawClient.post(gateway.port, "/v1/rerank", "{\"model\":\"m\",\"documents\":[\"hi\"]}");
        assertEquals(asked, gateway.tokens.asked.get());
        assertEquals(2, gateway.counter(NOT_EXACT, "reason", "other_api"));
        assertEquals(Part.PREFILL, gateway.router.requests.getLast().part());
        assertEquals(8, gateway.router.requests.getLast().promptTokens(), "a guess from 32 bytes");
        assertEquals(List.of(), gateway.router.requests.getLast().matches());
    }

    @Test
    void an_embedding_is_a_prefill_where_its_inputs_are_cached() throws Exception {
        start(call -> call.json(200, "{}"));
        gateway.forget();
        String ask = "{\"model\":\"m\",\"input\":[\"one\",\"two\",[1,2,3]]}";
        RawClient.Answer answer = RawClient.post(gateway.port, EMBED, ask, "x-warmpath-explain: 1");
        assertEquals("120", answer.header("x-warmpath-prompt-tokens"));
        assertEquals(
                List.of("Text", "Text", "Ids"),
                gateway.tokens.seen.stream().map(p -> p.getClass().getSimpleName()).toList());
        assertEquals(Part.PREFILL, gateway.router.requests.getLast().part());
        assertEquals(1, gateway.books.prompts.size());
        assertEquals(120, gateway.books.prompts.getFirst().tokens());
        assertEquals(ask, engine.calls.getLast().bodyText());
        assertEquals(1, gateway.counter(NOT_EXACT, "reason", "no_events"));
    }

    @Test
    void the_model_of_a_form_is_found_between_its_files() throws Exception {
        start(call -> call.json(200, "{\"text\":\"hello\"}"));
        byte[] noise = new byte[300_000];
        new Random(7).nextBytes(noise);
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        write(
                body,
                "--b1-X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n");
        write(body, "Content-Type: audio/wav\r\n\r\n");
        body.writeBytes(noise);
        // What only looks like the field lies inside the file.
        write(body, "name=\"model\"\r\n\r\nnot-this\r\n--b1-Y\r\n");
        write(body, "\r\n--b1-X\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n");
        write(body, "--b1-X\r\ncontent-disposition: form-data; name=\"models\"\r\n\r\nz");
        write(body, "\r\n--b1-X--\r\n");
        RawClient.Answer answer = form(body.toByteArray(), "boundary=b1-X");
        assertEquals("{\"text\":\"hello\"}", answer.body());
        assertEquals(body.size(), engine.calls.get(0).body.length);
        assertEquals(
                "multipart/form-data; boundary=b1-X", engine.calls.get(0).header("content-type"));
        assertEquals(200, form(body.toByteArray(), "charset=UTF-8; boundary=\"b1-X\"").status());
        byte[] preamble =
                ("to be ignored\r\n" + body.toString(StandardCharsets.ISO_8859_1))
                        .getBytes(StandardCharsets.ISO_8859_1);
        assertEquals(200, form(preamble, "boundary=b1-X").status());
    }

    @Test
    void a_form_without_a_model_is_refused_before_an_engine_sees_it() throws Exception {
        start(call -> call.json(200, "{}"));
        for (String parts :
                List.of(
                        "",
                        "--b",
                        "--b\r\n",
                        "--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm",
                        "--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nm\r\n--b--",
                        "--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n\r\n--b--")) {
            RawClient.Answer answer = form(parts.getBytes(StandardCharsets.UTF_8), "boundary=b");
            assertEquals(400, answer.status(), parts);
            assertTrue(answer.body().contains("\"param\":\"model\""), answer.body());
        }
        assertEquals(400, form(new byte[3], "").status());
        assertEquals(0, engine.requests.get());
    }

    private RawClient.Answer form(byte[] body, String parameter) throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(
                    "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: g\r\nContent-Type:"
                            + " multipart/form-data; "
                            + parameter
                            + "\r\nContent-Length: "
                            + body.length
                            + "\r\n\r\n");
            client.socket.getOutputStream().write(body);
            return client.readAnswer();
        }
    }

    private static void write(ByteArrayOutputStream to, String text) {
        to.writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void nothing_is_held_back_or_cut_out_of_a_stream() throws Exception {
        CountDownLatch seen = new CountDownLatch(1);
        start(
                call -> {
                    call.streamHead();
                    call.chunk("event: response.created\ndata: {\"usage\":{}}");
                    assertTrue(seen.await(10, TimeUnit.SECONDS));
                    call.chunk("\n\n");
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost("/v1/responses", "{\"model\":\"m\",\"stream\":true,\"input\":\"x\"}");
            client.readHead();
            assertEquals(
                    "event: response.created\ndata: {\"usage\":{}}", client.readChunk(), "half");
            seen.countDown();
            assertEquals("\n\n", client.readChunk());
        }
        assertEquals(
                "{\"model\":\"m\",\"stream\":true,\"input\":\"x\"}",
                engine.calls.get(0).bodyText());
    }

    @Test
    void a_stream_that_breaks_is_broken_for_the_client_too() throws Exception {
        start(
                call -> {
                    call.streamHead();
                    call.chunk("data: {}\n\n");
                    call.close();
                });
        RawClient.Answer answer =
                RawClient.post(gateway.port, "/v1/responses", "{\"model\":\"m\",\"stream\":true}");
        assertTrue(answer.broken(), "an event of ours means nothing in another API");
    }

    @Test
    void it_has_its_own_patience() throws Exception {
        UpstreamOptions d = UpstreamOptions.defaults();
        AnswerTimeouts shortly = new AnswerTimeouts(Duration.ofMillis(80), Duration.ofMillis(80));
        CountDownLatch over = new CountDownLatch(1);
        start(
                new UpstreamOptions(
                        d.connectTimeout(),
                        d.generation(),
                        shortly,
                        d.keepAlive(),
                        d.maxConnectionsPerWorker(),
                        d.gather()),
                call -> {
                    if (!call.head.startsWith("POST /v1/chat")) {
                        call.awaitGone();
                        over.countDown();
                        return;
                    }
                    assertTrue(over.await(10, TimeUnit.SECONDS));
                    call.json(200, "{}");
                });
        // The chat waits in the engine for longer than the embedding is waited for.
        try (RawClient chat = new RawClient(gateway.port)) {
            chat.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
            await().until(() -> engine.requests.get() == 1);
            RawClient.Answer late = RawClient.post(gateway.port, EMBED, ASK);
            assertEquals(504, late.status(), late.body());
            assertEquals(200, chat.readAnswer().status());
        }
    }

    @Test
    void a_dead_worker_is_passed_by_and_a_wrong_request_is_refused() throws Exception {
        start(call -> call.json(200, "{}"));
        gateway.fleet.workers(
                List.of(
                        Gateway.worker(
                                0,
                                java.net.URI.create("http://127.0.0.1:1"),
                                EngineKind.OPENAI,
                                WorkerState.READY,
                                1),
                        Gateway.worker(1, engine.url(), EngineKind.SGLANG, WorkerState.READY, 2)));
        assertEquals(200, RawClient.post(gateway.port, EMBED, ASK).status());
        assertEquals(ASK, engine.calls.get(0).bodyText(), "no rank in a body of another API");
        assertEquals(400, RawClient.post(gateway.port, EMBED, "{\"input\":\"a\"}").status());
        assertEquals(400, RawClient.post(gateway.port, EMBED, "{\"model\":").status());
        assertEquals(404, RawClient.post(gateway.port, EMBED, "{\"model\":\"unknown\"}").status());
        assertEquals(0, gateway.meters.get("warmpath.ttft").timer().count(), "of other APIs");
    }
}
