package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Clients that end what they send (TCP's FIN) and go on reading get their answers; those that have
 * left look the same at first, and are told apart within 200 ms.
 */
@ExtendWith(Leaks.class)
class HalfClosedTest {
    private static final String EXPLAINED = "x-warmpath-explain: 1";

    private final CountDownLatch go = new CountDownLatch(1);
    private final Semaphore asked = new Semaphore(0);
    private final Semaphore gone = new Semaphore(0);
    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.PAST);
        engine = new StubEngine(this::answer);
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        await().untilAsserted(() -> assertEquals(0, gateway.connections.get()));
        assertEquals(0, gateway.pastCodec());
        gateway.close(engine);
    }

    /** By what the prompt says: answers when it is told to, before or after its first token. */
    private void answer(StubEngine.Call call) throws Exception {
        boolean stream = call.bodyText().contains("\"stream\":true");
        asked.release();
        if (call.bodyText().contains("never")) {
            if (stream && call.bodyText().contains("begins")) {
                call.streamHead();
                call.chunk(token("a"));
            }
            assertTrue(call.awaitGone());
            gone.release();
            return;
        }
        if (stream && call.bodyText().contains("begins")) {
            call.streamHead();
            call.chunk(token("a"));
            assertTrue(go.await(20, TimeUnit.SECONDS));
        } else {
            assertTrue(go.await(20, TimeUnit.SECONDS));
            if (!stream) {
                call.json(200, "{\"n\":1}");
                return;
            }
            call.streamHead();
            call.chunk(token("a"));
        }
        call.chunk(token("b"));
        call.chunk(DONE);
        call.lastChunk();
    }

    private static String ask(String prompt, boolean stream) {
        return (stream ? Gateway.ASK : Gateway.ASK_WHOLE).replace("hi", prompt);
    }

    /** Past what came before the answer. */
    private static int status(RawClient client) throws Exception {
        int status = RawClient.status(client.readHead());
        while (status == 100) {
            status = RawClient.status(client.readHead());
        }
        return status;
    }

    private static String rest(RawClient client) throws Exception {
        return new String(client.in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    }

    private void assertAnswered(String prompt, boolean stream, String... headers) throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, ask(prompt, stream), headers);
            client.socket.shutdownOutput();
            assertTrue(asked.tryAcquire(10, TimeUnit.SECONDS));
            // For longer than it takes to find out who has left.
            await().during(300, TimeUnit.MILLISECONDS).until(() -> gateway.connections.get() == 1);
            go.countDown();
            assertEquals(200, status(client));
            String body = rest(client); // to the end of the connection
            assertTrue(
                    stream
                            ? body.contains("\"b\"") && body.contains("data: [DONE]\n\n")
                            : body.equals("{\"n\":1}"),
                    body);
        }
    }

    @Test
    void a_whole_answer_past_the_codec() throws Exception {
        assertAnswered("hi", false);
    }

    @Test
    void a_stream_past_the_codec() throws Exception {
        assertAnswered("hi", true);
    }

    @Test
    void a_stream_past_the_codec_that_has_begun() throws Exception {
        assertAnswered("begins", true);
    }

    @Test
    void a_whole_answer_through_the_codec() throws Exception {
        assertAnswered("hi", false, "Connection: close");
        assertEquals(1, gateway.throughCodec());
    }

    @Test
    void a_stream_through_the_codec_that_has_begun() throws Exception {
        assertAnswered("begins", true, "Connection: close", EXPLAINED);
    }

    @Test
    void requests_in_a_row_are_all_answered() throws Exception {
        go.countDown();
        try (RawClient client = new RawClient(gateway.port)) {
            for (int i = 0; i < 3; i++) {
                client.sendPost(Gateway.CHAT, ask("hi", false));
            }
            client.socket.shutdownOutput();
            int answers = 0;
            for (String part : rest(client).split("HTTP/1\\.1 ", -1)) {
                answers += part.startsWith("200") ? 1 : 0;
            }
            assertEquals(3, answers);
        }
    }

    @Test
    void who_has_asked_nothing_or_half_of_it_is_closed_at_once() throws Exception {
        try (RawClient silent = new RawClient(gateway.port);
                RawClient half = new RawClient(gateway.port);
                RawClient head = new RawClient(gateway.port)) {
            silent.socket.shutdownOutput();
            assertEquals("", rest(silent));
            half.send(
                    "POST " + Gateway.CHAT + " HTTP/1.1\r\nHost: g\r\nContent-Length: 9\r\n\r\n{");
            half.socket.shutdownOutput();
            assertEquals("", rest(half));
            head.send("POST " + Gateway.CHAT + " HTTP/1.1\r\nHo");
            head.socket.shutdownOutput();
            assertEquals("", rest(head));
        }
        assertEquals(0, engine.requests.get());
    }

    @Test
    void the_old_protocol_knows_no_half_closed_connections() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            String json = ask("never", false);
            client.send(
                    "POST "
                            + Gateway.CHAT
                            + " HTTP/1.0\r\nHost: g\r\nContent-Type: application/json\r\n"
                            + "Content-Length: "
                            + json.length()
                            + "\r\n\r\n"
                            + json);
            assertTrue(asked.tryAcquire(10, TimeUnit.SECONDS));
            client.socket.shutdownOutput();
            assertTrue(gone.tryAcquire(10, TimeUnit.SECONDS));
            assertEquals("", rest(client));
        }
    }

    /**
     * Of one whose socket is closed, with nothing unread in it, so that it says FIN and not RST.
     */
    private void assertNoticed(String prompt, boolean stream, String... headers) throws Exception {
        long least = Long.MAX_VALUE; // the first ones load what is needed
        for (int i = 0; i < 5; i++) {
            try (RawClient client = new RawClient(gateway.port)) {
                client.sendPost(Gateway.CHAT, ask(prompt, stream), headers);
                assertTrue(asked.tryAcquire(10, TimeUnit.SECONDS));
                if (prompt.contains("begins")) {
                    client.readHead();
                    assertTrue(client.readChunk().contains("\"a\""));
                }
            }
            long left = System.nanoTime();
            assertTrue(gone.tryAcquire(10, TimeUnit.SECONDS), "the engine goes on");
            least = Math.min(least, (System.nanoTime() - left) / 1_000_000);
        }
        assertTrue(least < 200, "noticed after " + least + " ms");
    }

    @Test
    void who_leaves_before_a_whole_answer_is_noticed() throws Exception {
        assertNoticed("never", false);
    }

    @Test
    void who_leaves_before_the_first_token_is_noticed() throws Exception {
        assertNoticed("never", true);
    }

    @Test
    void who_leaves_a_stream_is_noticed() throws Exception {
        assertNoticed("never begins", true);
    }

    @Test
    void who_leaves_a_request_through_the_codec_is_noticed() throws Exception {
        assertNoticed("never", false, "Connection: close");
    }

    @Test
    void who_leaves_a_stream_through_the_codec_is_noticed() throws Exception {
        assertNoticed("never begins", true, "Connection: close");
    }
}
