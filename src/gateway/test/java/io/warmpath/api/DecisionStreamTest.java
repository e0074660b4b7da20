package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.gateway.observe.DecisionLog;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Decisions as they are made, over HTTP. */
@ExtendWith(Leaks.class)
class DecisionStreamTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PATH = "/router/decisions/stream";

    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway =
                new Gateway(
                        EnginePath.RAW,
                        new DecisionLog(
                                new DecisionLog.Bounds(100, 1 << 20, 1000, 1000),
                                null,
                                InstantSource.system(),
                                System::nanoTime));
        engine = new StubEngine(call -> call.json(200, "{\"choices\":[]}"));
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.stream.close();
        gateway.close();
        engine.close();
    }

    private RawClient open(String query) throws Exception {
        RawClient client = new RawClient(gateway.port);
        client.send(
                "GET "
                        + PATH
                        + query
                        + " HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
        return client;
    }

    /** Opened, and greeted. */
    private RawClient follow(String query) throws Exception {
        RawClient client = open(query);
        String head = client.readHead();
        assertEquals(200, RawClient.status(head), head);
        assertTrue(head.contains("content-type: text/event-stream\r\n"), head);
        assertEquals(
                "event: hello\ndata: {\"instance\":\"i1\",\"version\":\"0.1\"}\n\n",
                client.readChunk());
        return client;
    }

    /** The next event's data. */
    private static JsonNode event(RawClient client) throws Exception {
        String event = client.readChunk();
        assertTrue(event.startsWith("event: decisions\ndata: {"), event);
        assertTrue(event.endsWith("}\n\n"), event);
        return JSON.readTree(event.substring("event: decisions\ndata: ".length()));
    }

    /** Rows until there are so many. */
    private static List<JsonNode> rows(RawClient client, int count) throws Exception {
        List<JsonNode> rows = new ArrayList<>();
        while (rows.size() < count) {
            JsonNode event = event(client);
            assertEquals(0, event.get("skipped").intValue());
            event.get("rows").forEach(rows::add);
        }
        return rows;
    }

    private void request(String id) throws Exception {
        assertEquals(200, gateway.post(Gateway.ASK_WHOLE, "x-request-id: " + id).status());
    }

    @Test
    void a_row_comes_when_it_is_decided_and_when_it_has_ended() throws Exception {
        try (RawClient reader = follow("")) {
            request("a");
            List<JsonNode> rows = rows(reader, 2);
            assertEquals("a", rows.getFirst().get("request_id").textValue());
            assertFalse(rows.getFirst().get("ended").booleanValue());
            assertFalse(rows.getFirst().has("status"));
            assertFalse(rows.getFirst().has("decision"));
            assertEquals(0, rows.getLast().get("number").intValue());
            assertTrue(rows.getLast().get("ended").booleanValue());
            assertEquals(200, rows.getLast().get("status").intValue());
        }
    }

    @Test
    void each_reader_gets_what_it_wants() throws Exception {
        try (RawClient one = follow("?request_id=b");
                RawClient all = follow("");
                RawClient failed = follow("?outcome=failed&request_id=c")) {
            request("a");
            request("b");
            engine.script(call -> call.json(400, "{\"error\":\"no\"}"));
            gateway.post(Gateway.ASK_WHOLE, "x-request-id: c");
            assertEquals(
                    List.of("b", "b"),
                    rows(one, 2).stream().map(r -> r.get("request_id").textValue()).toList());
            assertEquals(6, rows(all, 6).size());
            assertEquals(400, rows(failed, 1).getFirst().get("status").intValue());
        }
    }

    @Test
    void a_reader_that_has_gone_is_forgotten() throws Exception {
        RawClient reader = follow("");
        await().until(() -> gateway.stream.readers() == 1);
        reader.close();
        await().until(() -> gateway.stream.readers() == 0);
    }

    @Test
    void there_are_so_many_readers_and_a_place_is_free_again() throws Exception {
        List<RawClient> readers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            readers.add(follow(""));
        }
        await().until(() -> gateway.stream.readers() == 64);
        try (RawClient more = open("")) {
            RawClient.Answer refused = more.readAnswer();
            assertEquals(503, refused.status());
            JsonNode error = JSON.readTree(refused.body()).get("error");
            assertEquals("too_many_streams", error.get("code").textValue());
            assertTrue(error.get("message").textValue().startsWith("64 streams"));
        }
        readers.removeFirst().close();
        await().until(() -> gateway.stream.readers() == 63);
        readers.add(follow(""));
        for (RawClient reader : readers) {
            reader.close();
        }
    }

    @Test
    void the_end_of_the_gateway_is_the_end_of_the_stream() throws Exception {
        try (RawClient reader = follow("")) {
            gateway.stream.close();
            assertEquals("", reader.readChunk());
        }
        try (RawClient late = open("")) {
            assertEquals(503, late.readAnswer().status());
        }
    }

    @Test
    void it_is_for_operators_and_says_what_is_wrong() throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(
                    "GET "
                            + PATH
                            + " HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n");
            assertEquals(403, client.readAnswer().status());
        }
        try (RawClient client = open("?limit=3")) {
            RawClient.Answer refused = client.readAnswer();
            assertEquals(400, refused.status());
            assertEquals("limit", JSON.readTree(refused.body()).at("/error/param").textValue());
        }
    }
}
