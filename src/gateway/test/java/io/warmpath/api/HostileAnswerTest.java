package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** Compressed bodies, which nobody unpacks here, and answers that do not end where they should. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class HostileAnswerTest {
    private static final int UNPACKED = 200_000_000;
    private static final String LINE = "x-padding: " + "p".repeat(1000) + "\r\n";

    @Parameter EnginePath path;

    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(path);
        engine = new StubEngine(call -> call.json(200, "{}"));
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engine);
    }

    /** A few hundred kilobytes that become {@link #UNPACKED}. */
    private static byte[] bomb() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        byte[] zeros = new byte[1 << 20];
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            for (int left = UNPACKED; left > 0; left -= zeros.length) {
                out.write(zeros, 0, Math.min(left, zeros.length));
            }
        }
        assertTrue(packed.size() < 1_000_000, () -> packed.size() + " bytes");
        return packed.toByteArray();
    }

    private HttpResponse<byte[]> post(String target, byte[] body, String... headers)
            throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.port + target))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        }
    }

    private static void packed(StubEngine.Call call, String type, byte[] body) throws IOException {
        call.send(
                "HTTP/1.1 200 OK\r\nContent-Type: "
                        + type
                        + "\r\nContent-Encoding: gzip\r\nContent-Length: "
                        + body.length
                        + "\r\n\r\n");
        call.send(body);
    }

    @Test
    void a_packed_request_is_refused_with_the_reason() throws Exception {
        HttpResponse<byte[]> answer = post(Gateway.CHAT, bomb(), "Content-Encoding", "gzip");
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        assertEquals(400, answer.statusCode(), text);
        assertTrue(text.contains("compressed"), text);
        assertEquals(0, engine.requests.get());
    }

    @Test
    void packed_answers_are_passed_on_as_they_are() throws Exception {
        byte[] bomb = bomb();
        for (String type : new String[] {"application/json", "text/event-stream"}) {
            engine.script(call -> packed(call, type, bomb));
            String ask = type.equals("application/json") ? Gateway.ASK_WHOLE : Gateway.ASK;
            HttpResponse<byte[]> answer = post(Gateway.CHAT, ask.getBytes(StandardCharsets.UTF_8));
            assertEquals(200, answer.statusCode());
            assertEquals("gzip", answer.headers().firstValue("content-encoding").orElse(""));
            assertArrayEquals(bomb, answer.body());
        }
        // The control: it is what it says it is.
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(bomb))) {
            in.skipNBytes(UNPACKED);
            assertEquals(-1, in.read());
        }
    }

    @Test
    void a_packed_answer_that_would_have_to_be_read_is_an_error() throws Exception {
        byte[] bomb = bomb();
        for (String ask : new String[] {Gateway.ASK, Gateway.ASK_WHOLE}) {
            boolean stream = ask.equals(Gateway.ASK);
            engine.script(
                    call -> packed(call, stream ? "text/event-stream" : "application/json", bomb));
            RawClient.Answer answer =
                    RawClient.post(
                            gateway.port,
                            "/v1/messages",
                            ask.replace("\"model\"", "\"max_tokens\":9,\"model\""));
            assertEquals(502, answer.status(), answer::body);
            assertTrue(answer.body().contains("cannot be read"), answer.body());
        }
    }

    @Test
    void a_head_without_end_is_a_502_and_its_engine_is_left() throws Exception {
        engine.script(
                call -> {
                    call.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n");
                    without(call);
                });
        RawClient.Answer answer = gateway.post(Gateway.ASK_WHOLE);
        assertEquals(502, answer.status(), answer::body);
    }

    @Test
    void trailers_without_end_end_in_an_error_and_the_engine_is_left() throws Exception {
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(StreamingPathTest.token("a"));
                    call.send("0\r\n");
                    without(call);
                });
        RawClient.Answer answer = gateway.post(Gateway.ASK);
        assertTrue(answer.body().startsWith(StreamingPathTest.token("a")), answer.body());
        assertFalse(answer.body().contains("[DONE]"), answer.body());
        assertTrue(answer.broken() || answer.body().contains("\"error\""), answer.body());
    }

    /** Lines until the gateway hangs up, which it has to do soon. */
    private static void without(StubEngine.Call call) throws IOException {
        for (int i = 0; i < 100_000; i++) {
            try {
                call.send(LINE);
            } catch (IOException gone) {
                return;
            }
        }
        throw new AssertionError("the gateway has read 100 MB of a head");
    }
}
