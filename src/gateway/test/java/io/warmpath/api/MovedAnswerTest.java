package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.migration.MigrationOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a client that asks is told of a stream that was moved. */
@ExtendWith(Leaks.class)
class MovedAnswerTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String DONE = StreamingPathTest.DONE;
    private static final String EXPLAIN = "x-warmpath-explain: 1";

    private final List<StubEngine> engines = new ArrayList<>();
    private Gateway gateway;

    @BeforeEach
    void start() throws Exception {
        Duration soon = Duration.ofMillis(400);
        gateway =
                new Gateway(
                        EnginePath.RAW,
                        Gateway.upstream(soon, soon, soon),
                        new MigrationOptions(3, 4096, 1 << 20));
        engines.add(new StubEngine(call -> dies(call, "Once", " upon")));
        engines.add(new StubEngine(call -> stalls(call, " a")));
        engines.add(
                new StubEngine(
                        call -> {
                            say(call, " time.");
                            call.chunk(MigrationTest.finish("C", 3) + DONE);
                            call.lastChunk();
                        }));
        List<Worker> workers = new ArrayList<>();
        for (StubEngine e : engines) {
            workers.add(
                    Gateway.worker(
                            workers.size(), e.url(), EngineKind.SGLANG, WorkerState.READY, 1));
        }
        gateway.fleet.workers(workers);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close(engines.toArray(StubEngine[]::new));
    }

    private static void say(StubEngine.Call call, String... pieces) throws Exception {
        call.streamHead();
        call.chunk(MigrationTest.role("A", 1));
        for (String piece : pieces) {
            call.chunk(MigrationTest.said("A", 1, piece));
        }
    }

    private static void dies(StubEngine.Call call, String... pieces) throws Exception {
        say(call, pieces);
        call.close();
    }

    private static void stalls(StubEngine.Call call, String... pieces) throws Exception {
        say(call, pieces);
        call.awaitGone();
    }

    private static String ask(String nvext) {
        return "{\"model\":\"m\",\"stream\":true,"
                + nvext
                + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    }

    /** Of the last chunk but [DONE]. */
    private static JsonNode nvext(String body) throws Exception {
        assertTrue(body.endsWith(DONE), body);
        String chunks = body.substring(0, body.length() - DONE.length());
        return JSON.readTree(chunks.substring(chunks.lastIndexOf("data: ") + 6)).get("nvext");
    }

    private static void assertMoves(JsonNode routing) {
        assertEquals("w0", routing.get("chosen").get("worker").asText(), routing::toString);
        JsonNode moves = routing.get("moves");
        assertEquals(2, moves.size(), routing::toString);
        JsonNode one = moves.get(0);
        JsonNode two = moves.get(1);
        assertEquals("w0", one.get("from").asText());
        assertEquals("broke", one.get("cause").asText());
        assertEquals("w1", one.get("decision").get("chosen").get("worker").asText());
        assertEquals("w1", two.get("from").asText());
        assertEquals("stalled", two.get("cause").asText());
        assertEquals("w2", two.get("decision").get("chosen").get("worker").asText());
        assertTrue(one.get("after_tokens").asInt() >= 2, one::toString);
        assertTrue(two.get("after_tokens").asInt() > one.get("after_tokens").asInt());
        // The second one was silent for its whole time.
        double between = two.get("after_ms").asDouble() - one.get("after_ms").asDouble();
        assertTrue(between >= 400, () -> between + " ms");
    }

    @Test
    void every_move_is_explained() throws Exception {
        String body = gateway.post(ask(""), EXPLAIN).body();
        assertMoves(nvext(body).get("routing"));
    }

    @Test
    void a_stream_that_was_not_moved_says_nothing_of_moves() throws Exception {
        engines.getFirst()
                .script(
                        call -> {
                            say(call, "Once");
                            call.chunk(MigrationTest.finish("A", 1) + DONE);
                            call.lastChunk();
                        });
        JsonNode routing = nvext(gateway.post(ask(""), EXPLAIN).body()).get("routing");
        assertFalse(routing.has("moves"), routing::toString);
    }

    @Test
    void so_it_is_in_messages() throws Exception {
        String body =
                RawClient.post(gateway.port, "/v1/messages", ask("\"max_tokens\":99,"), EXPLAIN)
                        .body();
        int delta = body.indexOf("data: ", body.indexOf("event: message_delta"));
        JsonNode last = JSON.readTree(body.substring(delta + 6, body.indexOf('\n', delta)));
        assertMoves(last.get("nvext").get("routing"));
    }

    @Test
    void the_worker_and_the_times_are_those_of_the_whole_answer() throws Exception {
        String extras = "\"nvext\":{\"extra_fields\":[\"worker_id\",\"timing\"]},";
        JsonNode told = nvext(gateway.post(ask(extras)).body());
        assertEquals(2, told.get("worker_id").get("decode_worker_id").asInt(), told::toString);
        JsonNode timing = told.get("timing");
        double first = timing.get("ttft_ms").asDouble();
        double total = timing.get("total_time_ms").asDouble();
        assertTrue(total - first >= 400, () -> told + " has not the first worker's first token");
    }
}
