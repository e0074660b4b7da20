package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import io.warmpath.access.Budgets;
import io.warmpath.access.Grant;
import io.warmpath.access.KeyHash;
import io.warmpath.access.KeyRecord;
import io.warmpath.access.KeyRing;
import io.warmpath.api.client.ClientGate;
import io.warmpath.upstream.tls.EngineTls;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What a request costs of its client's tokens per minute, however it is sent and ends. */
@ParameterizedClass
@EnumSource(names = {"RAW", "PAST"})
class TokenChargeTest {
    private static final String KEY = "x-api-key: key";
    private static final int LIMIT = 1000;
    private static final String REMAINING = "x-ratelimit-remaining-tokens";
    private static final String EVENT =
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n";

    @Parameter EnginePath way;

    private final CountDownLatch held = new CountDownLatch(1);
    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        Grant grant = new Grant("k", "", false, List.of(), 0, LIMIT, "", 1, false, false, false);
        KeyRing ring =
                new KeyRing(
                        List.of(new KeyRecord(KeyHash.of("key"), grant, null)),
                        new Budgets(10),
                        Instant::now,
                        () -> 0); // time stands still: nothing flows in
        gateway = new Gateway(way, EngineTls.standard(), ClientGate.of(ring, false));
        engine = new StubEngine(call -> call.json(200, "{}"));
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        held.countDown();
        gateway.close();
        engine.close();
    }

    /** A chat of so many bytes. */
    private static String body(int bytes, String members) {
        String empty =
                "{\"model\":\"m\","
                        + members
                        + "\"messages\":[{\"role\":\"user\",\"content\":\"\"}]}";
        int at = empty.length() - 4;
        return empty.substring(0, at) + "x".repeat(bytes - empty.length()) + empty.substring(at);
    }

    private static String chunk(String text) {
        return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n";
    }

    private RawClient chunked(String sofar) throws Exception {
        RawClient client = new RawClient(gateway.port);
        client.send(
                "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\n"
                        + KEY
                        + "\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
                        + chunk(sofar));
        return client;
    }

    private void hold() {
        engine.script(
                call -> {
                    held.await(30, TimeUnit.SECONDS);
                    call.json(200, "{}");
                });
    }

    private static void assertOutOfTokens(RawClient.Answer answer) {
        assertEquals(429, answer.status(), answer::body);
        assertEquals(
                "tokens", new JsonObject(answer.body()).getJsonObject("error").getString("type"));
        assertTrue(Integer.parseInt(String.valueOf(answer.header("retry-after"))) > 0);
    }

    @Test
    void a_body_in_chunks_reserves_what_one_with_a_length_does() throws Exception {
        hold();
        try (RawClient first = chunked(body(3000, ""))) { // 750 tokens
            first.send("0\r\n\r\n");
            await().until(() -> engine.requests.get() == 1);
            assertOutOfTokens(gateway.post(body(1200, ""), KEY));
            RawClient.Answer small = RawClient.post(gateway.port, "/tokenize", "{}", KEY);
            assertEquals(Integer.toString(LIMIT - 750 - 1), small.header(REMAINING));
            held.countDown();
            assertEquals(200, first.readAnswer().status());
        }
    }

    @Test
    void a_body_that_grows_beyond_what_is_left_is_refused_before_its_end() throws Exception {
        hold();
        try (RawClient first = chunked(body(2000, ""))) { // 500 tokens
            first.send("0\r\n\r\n");
            await().until(() -> engine.requests.get() == 1);
            try (RawClient second = chunked(body(1000, ""))) {
                second.send(chunk(" ".repeat(1400)));
                assertOutOfTokens(second.readAnswer());
            }
            held.countDown();
            assertEquals(200, first.readAnswer().status());
        }
        assertEquals(1, engine.requests.get());
        // What was refused has cost nothing.
        engine.script(call -> call.json(200, "{}"));
        assertEquals(200, gateway.post(body(1600, ""), KEY).status());
    }

    /** Nobody has counted its prompt: its tokens are hidden, and the engine has told no usage. */
    @Test
    void who_leaves_a_stream_pays_for_the_prompt_by_bytes_and_for_what_came() throws Exception {
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(EVENT);
                    call.chunk(EVENT);
                    call.awaitGone();
                });
        try (RawClient client =
                chunked(body(1600, "\"stream\":true,\"chat_template\":\"x\","))) { // 400 tokens
            client.send("0\r\n\r\n");
            client.readHead();
            String seen = "";
            while (seen.length() < 2 * EVENT.length()) {
                seen += client.readChunk();
            }
        }
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        engine.script(call -> call.json(200, "{}"));
        RawClient.Answer next = gateway.post(body(400, ""), KEY);
        assertEquals(Integer.toString(LIMIT - 402 - 100), next.header(REMAINING));
    }

    @Test
    void who_leaves_before_an_answer_pays_for_the_prompt_by_bytes() throws Exception {
        engine.script(StubEngine.Call::awaitGone);
        try (RawClient client = chunked(body(1600, ""))) {
            client.send("0\r\n\r\n");
            await().until(() -> engine.requests.get() == 1);
        }
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        engine.script(call -> call.json(200, "{}"));
        RawClient.Answer next = gateway.post(body(400, ""), KEY);
        assertEquals(Integer.toString(LIMIT - 400 - 100), next.header(REMAINING));
    }

    /** The control: an engine that counts has the last word, in both directions. */
    @Test
    void what_the_engine_counted_replaces_the_guess() throws Exception {
        engine.script(
                call ->
                        call.json(
                                200,
                                "{\"usage\":{\"prompt_tokens\":30,\"completion_tokens\":12}}"));
        try (RawClient client = chunked(body(1600, ""))) {
            client.send("0\r\n\r\n");
            assertEquals(200, client.readAnswer().status());
        }
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        assertEquals(
                Integer.toString(LIMIT - 42 - 100),
                gateway.post(body(400, ""), KEY).header(REMAINING));
    }
}
