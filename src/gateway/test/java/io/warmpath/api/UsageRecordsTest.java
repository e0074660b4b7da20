package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.migration.MigrationOptions;
import io.warmpath.telemetry.UsageTracing;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each request through the real flow is one usage record, however it ended. */
@ExtendWith(Leaks.class)
class UsageRecordsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");
    private static final String DONE = StreamingPathTest.DONE;
    private static final String WHOLE =
            "{\"choices\":[{\"message\":{\"content\":\"hi\"}}],\"usage\":{\"prompt_tokens\":40,"
                    + "\"completion_tokens\":7,\"prompt_tokens_details\":{\"cached_tokens\":16}}}";

    private final List<UsageTracing.Usage> told = new CopyOnWriteArrayList<>();
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
        gateway.tracing = new UsageTracing(told::add, InstantSource.fixed(NOW));
    }

    private void engines(StubEngine.Script... scripts) throws Exception {
        List<Worker> workers = new ArrayList<>();
        for (StubEngine.Script script : scripts) {
            StubEngine e = new StubEngine(script);
            engines.add(e);
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

    /** The only one; a second one would have come by the time that the gateway has closed. */
    private JsonNode record() throws Exception {
        await().untilAsserted(() -> assertEquals(1, told.size()));
        return JSON.readTree(told.getFirst().record().text());
    }

    private static void say(StubEngine.Call call, String... pieces) throws Exception {
        call.streamHead();
        call.chunk(MigrationTest.role("A", 1));
        for (String piece : pieces) {
            call.chunk(MigrationTest.said("A", 1, piece));
        }
    }

    @Test
    void an_answer_is_told_with_what_the_engine_has_counted() throws Exception {
        engines(call -> call.json(200, WHOLE));
        gateway.post(Gateway.ASK_WHOLE, "x-request-id: one");
        JsonNode r = record();
        assertEquals(NOW.toString(), r.get("time").textValue());
        assertEquals("one", r.get("request_id").textValue());
        assertEquals(Gateway.CHAT, r.get("path").textValue());
        assertEquals("m", r.get("model").textValue());
        assertFalse(r.get("stream").booleanValue());
        assertEquals("ok", r.get("outcome").textValue());
        assertEquals(200, r.get("status").intValue());
        assertEquals(1, r.get("tries").intValue());
        assertEquals("w0", r.get("worker").textValue());
        assertEquals(0, r.get("dp_rank").intValue());
        assertEquals(40, r.get("prompt_tokens").intValue());
        assertEquals(16, r.get("cached_tokens").intValue());
        assertEquals(7, r.get("output_tokens").intValue());
        assertFalse(r.get("estimated").booleanValue());
        assertTrue(r.get("ttft_ms").doubleValue() <= r.get("total_ms").doubleValue());
        assertNull(r.get("tenant"));
    }

    @Test
    void a_retry_is_one_record_of_the_worker_that_answered() throws Exception {
        engines(call -> call.json(503, "{}"), call -> call.json(200, WHOLE));
        gateway.post(Gateway.ASK_WHOLE);
        JsonNode r = record();
        assertEquals("ok", r.get("outcome").textValue());
        assertEquals(2, r.get("tries").intValue());
        assertEquals("w1", r.get("worker").textValue());
        assertEquals(7, r.get("output_tokens").intValue());
    }

    @Test
    void an_engines_error_is_told_without_tokens_made() throws Exception {
        engines(call -> call.json(400, "{\"error\":{\"message\":\"no\"}}"));
        gateway.post(Gateway.ASK_WHOLE);
        JsonNode r = record();
        assertEquals("engine_error", r.get("outcome").textValue());
        assertEquals(400, r.get("status").intValue());
        assertNull(r.get("output_tokens"));
        assertNull(r.get("ttft_ms"));
    }

    @Test
    void a_client_that_leaves_is_told_with_the_events_that_were_made() throws Exception {
        engines(
                call -> {
                    say(call, "Once", " upon");
                    call.awaitGone();
                });
        try (RawClient client = new RawClient(gateway.port)) {
            client.sendPost(Gateway.CHAT, Gateway.ASK);
            client.readHead();
            String seen = client.readChunk();
            while (!seen.contains("upon")) {
                seen += client.readChunk();
            }
        }
        JsonNode r = record();
        assertEquals("cancelled", r.get("outcome").textValue());
        assertEquals("w0", r.get("worker").textValue());
        assertTrue(r.get("output_tokens").intValue() >= 2, r::toString);
        assertTrue(r.get("estimated").booleanValue());
        assertTrue(r.get("ttft_ms").doubleValue() > 0);
    }

    @Test
    void a_moved_stream_is_one_record_with_the_first_ones_first_token_and_all_output()
            throws Exception {
        engines(
                call -> {
                    say(call, "Once", " upon");
                    call.close();
                },
                call -> {
                    say(call, " a", " time.");
                    call.chunk(MigrationTest.finish("B", 3) + DONE);
                    call.lastChunk();
                });
        gateway.post(Gateway.ASK);
        JsonNode r = record();
        assertEquals("ok", r.get("outcome").textValue());
        assertEquals(2, r.get("tries").intValue());
        assertEquals("w1", r.get("worker").textValue());
        assertTrue(r.get("output_tokens").intValue() >= 4, r::toString);
        assertTrue(r.get("ttft_ms").doubleValue() > 0);
    }

    @Test
    void a_request_that_no_worker_got_is_told_too() throws Exception {
        engines();
        gateway.post(Gateway.ASK_WHOLE);
        JsonNode r = record();
        assertEquals(0, r.get("tries").intValue());
        assertNull(r.get("worker"));
        assertNull(r.get("prompt_tokens"));
    }
}
