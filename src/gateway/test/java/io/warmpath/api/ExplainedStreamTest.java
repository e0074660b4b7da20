package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** {@code nvext.routing} in the last chunk of streams whose client asks why. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class ExplainedStreamTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String EXPLAIN = "x-warmpath-explain: 1";
    private static final String FIRST = StreamingPathTest.token("\\\"finish_reason\\\": x");
    private static final String LAST =
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\": \"stop\"}]}\n\n";
    private static final String USAGE =
            "data: {\"choices\":[],\"usage\":{\"total_tokens\":3} }\n\n";
    private static final String DONE = StreamingPathTest.DONE;

    @Parameter EnginePath path;

    private Gateway gateway;
    private StubEngine engine;
    private volatile String[] parts = {};

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(path);
        engine =
                new StubEngine(
                        call -> {
                            call.streamHead();
                            for (String part : parts) {
                                call.chunk(part);
                            }
                            call.lastChunk();
                        });
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        gateway.close();
        engine.close();
    }

    private String answer(String... stream) throws Exception {
        parts = stream;
        return gateway.post(Gateway.ASK, EXPLAIN).body();
    }

    /** What the chunk says of routing; checks that without it the chunk is {@code expected}. */
    private static JsonNode routing(String chunk, String expected) throws Exception {
        JsonNode read = JSON.readTree(chunk.strip().substring("data: ".length()));
        JsonNode routing = read.get("nvext").get("routing");
        JsonNode bare = ((com.fasterxml.jackson.databind.node.ObjectNode) read).deepCopy();
        ((com.fasterxml.jackson.databind.node.ObjectNode) bare).remove("nvext");
        assertEquals(JSON.readTree(expected.strip().substring("data: ".length())), bare);
        return routing;
    }

    @Test
    void the_last_chunk_says_why_wherever_the_stream_is_cut() throws Exception {
        String stream = FIRST + LAST + DONE;
        for (int cut = 1; cut < stream.length(); cut++) {
            String got = answer(stream.substring(0, cut), stream.substring(cut));
            assertTrue(got.startsWith(FIRST) && got.endsWith("\n\n" + DONE), got);
            String last = got.substring(FIRST.length(), got.length() - DONE.length());
            JsonNode why = routing(last, LAST);
            assertEquals("w0", why.get("chosen").get("worker").asText());
            assertTrue(why.get("candidates").isArray());
        }
    }

    @Test
    void a_usage_chunk_behind_the_last_token_is_the_last() throws Exception {
        String got = answer(FIRST, LAST, USAGE, DONE);
        assertTrue(got.startsWith(FIRST + LAST), got);
        routing(got.substring((FIRST + LAST).length(), got.length() - DONE.length()), USAGE);
    }

    @Test
    void line_ends_and_comments_stay_as_they_are() throws Exception {
        String crlf = (FIRST + LAST).replace("\n", "\r\n");
        String got = answer(crlf, ": ping }\n\n", DONE);
        String first = FIRST.replace("\n", "\r\n");
        assertTrue(got.startsWith(first) && got.endsWith("\r\n\r\n: ping }\n\n" + DONE), got);
        int comment = got.indexOf(": ping");
        routing(got.substring(first.length(), comment), LAST);
    }

    @Test
    void a_stream_without_done_gets_it_at_its_end() throws Exception {
        String got = answer(FIRST, LAST);
        routing(got.substring(FIRST.length()), LAST);
    }

    @Test
    void an_nvext_of_the_engines_own_is_left_alone() throws Exception {
        String own = LAST.replace("{\"choices\"", "{\"nvext\":{\"a\":1},\"choices\"");
        assertEquals(FIRST + own + DONE, answer(FIRST, own, DONE));
    }

    @Test
    void who_does_not_ask_gets_every_byte_as_it_is() throws Exception {
        parts = new String[] {FIRST, LAST, USAGE, DONE};
        assertEquals(FIRST + LAST + USAGE + DONE, gateway.post(Gateway.ASK).body());
    }

    @Test
    void tokens_are_not_kept_waiting() throws Exception {
        CountDownLatch seen = new CountDownLatch(1);
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(FIRST);
                    assertTrue(seen.await(10, TimeUnit.SECONDS));
                    call.chunk(LAST + DONE);
                    call.lastChunk();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK, EXPLAIN);
            client.readHead();
            assertEquals(FIRST, client.readChunk());
            seen.countDown();
            assertTrue(client.readChunk().contains("\"routing\""));
        }
    }

    @Test
    void what_was_kept_back_comes_before_an_error() throws Exception {
        engine.script(
                call -> {
                    call.streamHead();
                    call.chunk(FIRST + LAST);
                    call.close();
                });
        String got = gateway.post(Gateway.ASK, EXPLAIN).body();
        assertTrue(got.startsWith(FIRST + LAST + "data: {\"error\""), got);
    }
}
