package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** Requests that two readers could take for different ones; and bytes that are no requests. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class RequestSmugglingTest {
    private static final String POST = "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\n";
    private static final String LENGTH = "Content-Length: " + Gateway.ASK_WHOLE.length() + "\r\n";

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
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        // What a connection that is cut off by the end of its event loop held would show as a leak.
        await().untilAsserted(() -> assertEquals(0, gateway.connections.get()));
        gateway.close();
        engine.close();
        assertTrue(engine.failures.isEmpty(), () -> "engine: " + engine.failures);
    }

    /** What one connection gets for these bytes until the gateway closes it. */
    private String answersTo(String bytes) throws IOException {
        try (RawClient client = new RawClient(gateway.port)) {
            try {
                client.socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
                client.socket.shutdownOutput();
            } catch (IOException e) {
                // closed before it has read everything: the answer may still be there
            }
            return new String(client.in.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (SocketTimeoutException e) {
            throw new AssertionError("a stuck connection after\n" + bytes, e);
        } catch (IOException e) {
            return "reset";
        }
    }

    private void refused(String bytes) throws IOException {
        String answer = answersTo(bytes);
        assertTrue(
                answer.matches("(?s)HTTP/1\\.\\d (400|505) .*")
                        || answer.isEmpty()
                        || answer.equals("reset"),
                () -> bytes + "\nwas answered with\n" + answer);
        assertEquals(0, engine.requests.get(), bytes);
    }

    @Test
    void lengths_that_disagree_are_refused() throws Exception {
        String body = "\r\n" + Gateway.ASK_WHOLE;
        refused(POST + LENGTH + "Content-Length: 5\r\n" + body);
        refused(POST + "Content-Length: 5, 5\r\n" + body);
        refused(POST + "Content-Length: +5\r\n" + body);
        refused(POST + "Content-Length: 0x10\r\n" + body);
        refused(POST + "Content-Length: -5\r\n" + body);
        refused(POST + "Content-Length: \r\n" + body);
    }

    @Test
    void lines_that_do_not_end_in_crlf_and_names_that_are_none_start_no_request() throws Exception {
        refused(POST + "A : b\r\n" + LENGTH + "\r\n" + Gateway.ASK_WHOLE);
        refused(POST + "A\0: b\r\n" + LENGTH + "\r\n" + Gateway.ASK_WHOLE);
        refused(POST + " folded: b\r\n" + LENGTH + "\r\n" + Gateway.ASK_WHOLE);
        refused("POST /v1/chat/completions\r\n\r\n");
        refused("\0\1\2\3");
    }

    @Test
    void length_and_chunks_together_reach_the_engine_as_one_length_or_not_at_all()
            throws Exception {
        String smuggled = "POST /v1/completions HTTP/1.1\r\nHost: g\r\n\r\n";
        String answer =
                answersTo(
                        POST
                                + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n"
                                + Integer.toHexString(Gateway.ASK_WHOLE.length())
                                + "\r\n"
                                + Gateway.ASK_WHOLE
                                + "\r\n0\r\n\r\n"
                                + smuggled);
        for (StubEngine.Call call : engine.calls) {
            assertEquals(Gateway.ASK_WHOLE, call.bodyText(), answer);
            assertNull(call.header("transfer-encoding"));
            assertEquals(
                    Integer.toString(Gateway.ASK_WHOLE.length()), call.header("content-length"));
        }
        assertTrue(engine.requests.get() <= 1, answer);
    }

    @Test
    void a_bare_cr_in_a_header_never_becomes_a_line_of_its_own() throws Exception {
        answersTo(POST + "X-A: 1\rX-Injected: 2\r\n" + LENGTH + "\r\n" + Gateway.ASK_WHOLE);
        for (StubEngine.Call call : engine.calls) {
            assertNull(call.header("x-injected"), call.head);
            assertTrue(call.head.indexOf("\rX-") < 0, call.head);
        }
    }

    @Test
    void headers_that_connection_names_stay_here() throws Exception {
        gateway.post(Gateway.ASK_WHOLE, "Connection: close, X-Secret", "X-Secret: 1", "X-Open: 2");
        assertNull(engine.calls.get(0).header("x-secret"));
        assertEquals("2", engine.calls.get(0).header("x-open"));
    }

    @Test
    void large_heads_reach_the_engine_whole() throws Exception {
        String value = "v".repeat(1500);
        String[] headers = new String[4];
        for (int i = 0; i < headers.length; i++) {
            headers[i] = "X-Large-" + i + ": " + value;
        }
        assertEquals(200, gateway.post(Gateway.ASK_WHOLE, headers).status());
        for (int i = 0; i < headers.length; i++) {
            assertEquals(value, engine.calls.get(0).header("x-large-" + i));
        }
    }

    @Test
    void header_bytes_above_ascii_come_through_unchanged_or_not_at_all() throws Exception {
        String head = POST + "X-Name: caf\u00e9 \u00ff\r\n" + LENGTH + "\r\n" + Gateway.ASK_WHOLE;
        try (RawClient client = new RawClient(gateway.port)) {
            client.socket.getOutputStream().write(head.getBytes(StandardCharsets.ISO_8859_1));
            int status = client.readAnswer().status();
            if (status == 200) {
                assertEquals("caf\u00e9 \u00ff", engine.calls.get(0).header("x-name"));
            } else {
                assertEquals(400, status);
                assertEquals(0, engine.requests.get());
            }
        }
    }

    @Test
    void what_follows_the_last_request_of_a_connection_is_dropped_and_not_kept() throws Exception {
        // Vert.x 4.5 would keep the body's memory; the leak detector of this class watches.
        String next = POST + LENGTH + "\r\n" + Gateway.ASK_WHOLE;
        for (String last :
                new String[] {
                    next.replace("HTTP/1.1", "HTTP/1.0"),
                    POST + "Connection: close\r\n" + LENGTH + "\r\n" + Gateway.ASK_WHOLE,
                    next + POST + "Connection: CLOSE\r\n" + LENGTH + "\r\n" + Gateway.ASK_WHOLE,
                    "GET /v1/models HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n",
                    "GET /nothing HTTP/1.0\r\nHost: g\r\n\r\n",
                    // Answered by Vert.x before any route.
                    "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
                    "GET / HTTP/1.2\r\nHost: g\r\n\r\n"
                }) {
            for (int i = 0; i < 10; i++) {
                try (RawClient client = new RawClient(gateway.port)) {
                    client.send(last + next + next);
                    String answers =
                            new String(client.in.readAllBytes(), StandardCharsets.ISO_8859_1);
                    int expected = last.startsWith(next) ? 2 : 1;
                    assertTrue(!answers.contains(" 400 ") || answers.contains("\"code\""), answers);
                    assertEquals(expected, answers.split("HTTP/1\\.\\d ", -1).length - 1, answers);
                }
            }
        }
    }

    @Test
    void damaged_requests_never_leave_a_stuck_connection_or_a_booking() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        String sound =
                POST
                        + "Content-Type: application/json\r\nX-A: b, c\r\n"
                        + LENGTH
                        + "\r\n"
                        + Gateway.ASK_WHOLE;
        String chunked =
                POST
                        + "Transfer-Encoding: chunked\r\n\r\n"
                        + Integer.toHexString(Gateway.ASK_WHOLE.length())
                        + "\r\n"
                        + Gateway.ASK_WHOLE
                        + "\r\n0\r\n\r\n";
        String spice = "\r\n\0:; \t0f9,xHT\u00ff{}\"";
        int answered = 0;
        for (int round = 0; round < 400; round++) {
            StringBuilder wire = new StringBuilder(round % 2 == 0 ? sound : chunked);
            if (random.nextInt(3) == 0) {
                wire.append(sound);
            }
            for (int n = random.nextInt(4); n > 0; n--) {
                int at = random.nextInt(wire.length());
                int version = wire.lastIndexOf("HTTP/1.1", at);
                // Vert.x 4.5 answers other versions before any route and keeps the memory of what
                // follows; nothing of ours is asked.
                if (version < 0 || at >= version + "HTTP/1.1".length()) {
                    wire.setCharAt(at, spice.charAt(random.nextInt(spice.length())));
                }
            }
            wire.setLength(wire.length() - random.nextInt(2) * random.nextInt(wire.length()));
            String answer = answersTo(wire.toString());
            answered += answer.startsWith("HTTP/1.1 ") ? 1 : 0;
        }
        int count = answered;
        assertTrue(count > 100, () -> count + " answers, seed " + seed);
        RawClient.Answer after = gateway.post(Gateway.ASK_WHOLE);
        assertNotNull(after.header("x-request-id"));
        assertEquals(200, after.status(), () -> "seed " + seed);
    }
}
