package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.access.Budgets;
import io.warmpath.access.Grant;
import io.warmpath.access.KeyHash;
import io.warmpath.access.KeyRecord;
import io.warmpath.access.KeyRing;
import io.warmpath.api.client.ClientGate;
import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.upstream.UpstreamOptions;
import io.warmpath.upstream.tls.EngineTls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests past the server's codec, beside requests through it, on the same connections. */
@ExtendWith(Leaks.class)
class RawInletTest {
    private static final String EVENT =
            "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";

    private static final String ODD =
            String.join(
                    "\r\n",
                    "HTTP/1.1 201 Whatever",
                    "Content-Type: text/plain",
                    "X-Request-Id: mine",
                    "X-A: b",
                    "x-a: c",
                    "Connection: x-hop",
                    "X-Hop: d",
                    "Content-Length: 2",
                    "",
                    "{}");

    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(EnginePath.PAST);
        engine = new StubEngine(RawInletTest::echo);
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        await().untilAsserted(() -> assertEquals(0, gateway.connections.get()));
        assertEquals(0, gateway.pastCodec());
        gateway.close(engine);
    }

    /** Says what it was asked, and how long that was. */
    private static void echo(StubEngine.Call call) throws IOException {
        if (call.bodyText().contains("\"stream\":true")) {
            call.streamHead();
            call.chunk(EVENT);
            call.chunk("data: {\"id\":\"" + call.body.length + "\"}\n\n");
            call.chunk("data: [DONE]\n\n");
            call.lastChunk();
        } else {
            call.json(200, "{\"said\":" + call.body.length + "}");
        }
    }

    private static String post(String path, String json, String... headers) {
        StringBuilder head = new StringBuilder();
        head.append("POST ").append(path).append(" HTTP/1.1\r\nHost: gateway\r\n");
        for (String header : headers) {
            head.append(header).append("\r\n");
        }
        return head.append("Content-Length: ")
                .append(json.length())
                .append("\r\n\r\n")
                .append(json)
                .toString();
    }

    private static String ask(int words, boolean stream) {
        return Gateway.ASK_WHOLE
                .replace("\"hi\"", "\"" + "word ".repeat(words) + "\"")
                .replace("{\"model\"", stream ? "{\"stream\":true,\"model\"" : "{\"model\"");
    }

    /** One of many, of those that are taken and those that are not. */
    private static String request(SplittableRandom random) {
        int words = random.nextInt(40);
        return switch (random.nextInt(12)) {
            case 0 -> "GET /v1/models HTTP/1.1\r\nHost: gateway\r\n\r\n";
            case 1 -> post(Gateway.CHAT, "{\"model\":");
            case 2 -> post("/v1/chat/completions?a=b", ask(words, false));
            case 3 -> post(Gateway.CHAT, ask(words, false), "X-Tab: a\tb");
            case 4 -> {
                String json = ask(words, false);
                yield "POST "
                        + Gateway.CHAT
                        + " HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + Integer.toHexString(json.length())
                        + "\r\n"
                        + json
                        + "\r\n0\r\n\r\n";
            }
            case 5 -> post("/v1/embeddings", "{\"model\":\"m\",\"input\":\"" + words + "\"}");
            case 6 -> post("/v1/nothing", "{}");
            case 7 -> post(Gateway.CHAT, ask(20_000, false));
            case 8, 9 -> post(Gateway.CHAT, ask(words, true), "X-Request-Id: r-" + words);
            default -> post(Gateway.CHAT, ask(words, false), "Connection: keep-alive");
        };
    }

    private static String answer(RawClient client) throws IOException {
        RawClient.Answer answer = client.readAnswer();
        return answer.status()
                + " "
                + answer.header("content-type")
                + " "
                + answer.body().replaceAll("req-[0-9a-f]{32}", "req-");
    }

    private static List<String> answers(int port, List<String> requests) throws IOException {
        List<String> answers = new ArrayList<>();
        for (String request : requests) {
            try (RawClient client = new RawClient(port)) {
                client.send(request);
                answers.add(answer(client));
            }
        }
        return answers;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void requests_behind_each_other_get_the_answers_they_get_alone_wherever_they_are_cut(long seed)
            throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        try (Gateway other = new Gateway(EnginePath.VERTX);
                StubEngine same = new StubEngine(RawInletTest::echo)) {
            other.serve(same);
            for (int round = 0; round < 12; round++) {
                List<String> requests = new ArrayList<>();
                for (int n = 1 + random.nextInt(8); n > 0; n--) {
                    requests.add(request(random));
                }
                List<String> expected = answers(other.port, requests);
                try (RawClient client = new RawClient(gateway.port)) {
                    Thread sender = sender(client, String.join("", requests), random.split());
                    List<String> got = new ArrayList<>();
                    for (int i = 0; i < requests.size(); i++) {
                        got.add(answer(client));
                    }
                    assertEquals(expected, got, () -> "seed " + seed + "\n" + requests);
                    sender.join();
                }
            }
        }
    }

    private static Thread sender(RawClient client, String bytes, SplittableRandom random) {
        return Thread.ofPlatform()
                .start(
                        () -> {
                            try {
                                for (int at = 0; at < bytes.length(); ) {
                                    int most = random.nextInt(4) == 0 ? 9 : 9_000;
                                    int to =
                                            Math.min(at + 1 + random.nextInt(most), bytes.length());
                                    client.send(bytes.substring(at, to));
                                    at = to;
                                }
                            } catch (IOException e) {
                                throw new AssertionError(e);
                            }
                        });
    }

    @Test
    void an_answer_has_the_head_that_it_has_through_the_codec() throws Exception {
        engine.script(call -> call.send(ODD));
        String ask = post("/v1/embeddings", "{\"model\":\"m\"}", "x-request-id: r-1");
        List<List<String>> heads = new ArrayList<>();
        try (Gateway other = new Gateway(EnginePath.RAW)) {
            other.serve(engine);
            for (int port : List.of(other.port, gateway.port)) {
                try (RawClient client = new RawClient(port)) {
                    client.send(ask);
                    heads.add(
                            client.readHead()
                                    .lines()
                                    .map(l -> l.toLowerCase(Locale.ROOT))
                                    .sorted()
                                    .toList());
                }
            }
        }
        assertEquals(heads.get(0), heads.get(1));
        assertTrue(heads.get(0).contains("http/1.1 201 created"), heads.toString());
        assertTrue(heads.get(0).contains("x-request-id: r-1"), heads.toString());
    }

    @ParameterizedTest
    @ValueSource(ints = {204, 205, 304})
    void an_answer_without_a_body_has_none(int status) throws Exception {
        engine.script(call -> call.send("HTTP/1.1 " + status + " X\r\nContent-Length: 0\r\n\r\n"));
        try (RawClient client = new RawClient(gateway.port)) {
            for (int i = 0; i < 2; i++) { // the second one is found where the first one ended
                client.send(post("/v1/embeddings", "{\"model\":\"m\"}"));
                String head = client.readHead().toLowerCase(Locale.ROOT);
                assertEquals(status, RawClient.status(head));
                assertFalse(head.contains("transfer-encoding"), head);
                assertEquals(status != 204, head.contains("content-length: 0"), head);
            }
        }
    }

    @Test
    void what_follows_the_head_of_a_request_in_the_codec_is_its_own() throws Exception {
        // As if a proxy had sent somebody's header value behind somebody else's request.
        String hidden = post(Gateway.CHAT, Gateway.ASK_WHOLE);
        try (RawClient client = new RawClient(gateway.port)) {
            client.send("GET /live HTTP/1.1\r\nHost: g\r\n\r\nGET /live HTTP/1.1\r\nX: ");
            assertEquals(200, client.readAnswer().status());
            client.send(hidden);
            assertEquals(200, client.readAnswer().status());
            assertEquals(0, engine.requests.get(), "a header's value was taken for a request");
        }
    }

    @Test
    void nothing_is_taken_after_the_last_request_of_a_connection() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(post(Gateway.CHAT, Gateway.ASK_WHOLE, "Connection: close"));
            assertEquals(200, client.readAnswer().status());
            try {
                client.send(post(Gateway.CHAT, Gateway.ASK_WHOLE));
                assertEquals(-1, client.in.read());
            } catch (IOException e) {
                // reset: it was closed
            }
            assertEquals(1, engine.requests.get());
        }
    }

    @Test
    void a_client_that_leaves_in_its_body_is_counted_and_nothing_is_left() throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port)) {
            String whole = post(Gateway.CHAT, Gateway.ASK_WHOLE);
            socket.getOutputStream()
                    .write(
                            whole.substring(0, whole.length() - 3)
                                    .getBytes(StandardCharsets.US_ASCII));
            await().untilAsserted(() -> assertEquals(1, gateway.pastCodec()));
        }
        await().untilAsserted(() -> assertEquals(0, gateway.pastCodec()));
        assertEquals(0, engine.requests.get());
    }

    @Test
    void whoever_stops_the_gateway_waits_for_the_answers_that_run() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch idle = new CountDownLatch(1);
        engine.script(
                call -> {
                    go.await();
                    call.json(200, "{}");
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(post(Gateway.CHAT, Gateway.ASK_WHOLE));
            await().untilAsserted(() -> assertEquals(1, engine.requests.get()));
            gateway.inference.rawRequests().closed(idle::countDown);
            assertEquals(1, idle.getCount());
            go.countDown();
            assertEquals(200, client.readAnswer().status());
            assertTrue(idle.await(10, TimeUnit.SECONDS));
            // What comes now goes through the codec, and is refused.
            client.send(post(Gateway.CHAT, Gateway.ASK_WHOLE));
            assertEquals(503, client.readAnswer().status());
            assertEquals(1, gateway.throughCodec());
        }
    }

    @Test
    void a_slow_reader_of_a_long_answer_gets_all_of_it() throws Exception {
        String event = EVENT.replace("\"hi\"", "\"" + "x".repeat(20_000) + "\""); // 10 MB in all
        engine.script(
                call -> {
                    call.streamHead();
                    for (int i = 0; i < 500; i++) {
                        call.chunk(event);
                    }
                    call.chunk("data: [DONE]\n\n");
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            for (int i = 0; i < 2; i++) {
                client.send(post(Gateway.CHAT, Gateway.ASK));
                await().untilAsserted(() -> assertTrue(gateway.isClientFull()));
                assertEquals(event.repeat(500) + "data: [DONE]\n\n", client.readAnswer().body());
            }
        }
        assertEquals(0, gateway.throughCodec());
    }

    @Test
    void where_there_is_no_memory_for_a_body_that_has_begun_the_codec_says_so() throws Exception {
        gateway.close();
        gateway =
                new Gateway(
                        EnginePath.PAST,
                        Gateway.limits(100_000, 100, 100)
                                .with(
                                        new ClientBounds(
                                                Duration.ZERO,
                                                Duration.ZERO,
                                                Duration.ZERO,
                                                9_000)),
                        UpstreamOptions.defaults(),
                        Runnable::run);
        gateway.serve(engine);
        String large = post(Gateway.CHAT, ask(3_000, false));
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(large.substring(0, 8_000));
            await().untilAsserted(() -> assertEquals(1, gateway.pastCodec()));
            client.send(large.substring(8_000));
            assertEquals(503, client.readAnswer().status());
        }
        assertEquals(0, engine.requests.get());
    }

    @Test
    void an_unknown_client_is_refused_and_a_known_one_is_not() throws Exception {
        gateway.close();
        KeyRing keys =
                new KeyRing(
                        List.of(new KeyRecord(KeyHash.of("sk-right-key"), Grant.all("n"), null)),
                        new Budgets(10),
                        Instant::now,
                        System::nanoTime);
        gateway = new Gateway(EnginePath.PAST, EngineTls.standard(), ClientGate.of(keys, false));
        gateway.serve(engine);
        String json = Gateway.ASK_WHOLE;
        try (RawClient client = new RawClient(gateway.port)) {
            for (int i = 0; i < 2; i++) {
                client.send(post(Gateway.CHAT, json));
                RawClient.Answer refused = client.readAnswer();
                assertEquals(401, refused.status());
                assertEquals("Bearer", refused.header("www-authenticate"));
                client.send(post(Gateway.CHAT, json, "Authorization: Bearer sk-right-key"));
                assertEquals(200, client.readAnswer().status());
            }
        }
        assertEquals(0, gateway.throughCodec());
        assertEquals(2, engine.requests.get());
        assertNull(engine.calls.get(0).header("authorization"));
    }
}
