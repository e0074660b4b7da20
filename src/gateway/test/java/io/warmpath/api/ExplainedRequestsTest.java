package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import io.warmpath.tokens.Tokenizing;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.PromptInput;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code extra_fields} and {@code annotations}: what an answer says beside itself. */
@ExtendWith(Leaks.class)
class ExplainedRequestsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String FIRST = StreamingPathTest.token("a");
    private static final String LAST =
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    private static final String USAGE =
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":3,"
                    + "\"prompt_tokens_details\":{\"cached_tokens\":16}}}\n\n";
    private static final String DONE = StreamingPathTest.DONE;
    private static final String WHOLE =
            "{\"choices\":[{\"message\":{\"content\":\"say \\\"nvext\\\"}\"}}],\"usage\":"
                    + "{\"prompt_tokens\":40,\"completion_tokens\":3}}\n";
    private static final String PROMPT = "<|user|>hé\n<|assistant|>";

    /** A u64 that is no long. */
    private static final String WORKER = "18446744073709551615";

    private volatile boolean known = true;
    private volatile boolean busy;
    private Gateway gateway;
    private StubEngine engine;
    private volatile String[] parts = {FIRST, LAST, USAGE, DONE};

    @BeforeEach
    void start() throws Exception {
        gateway =
                new Gateway(
                        EnginePath.RAW,
                        new Tokenizing() {
                            @Override
                            public Answer tokenize(
                                    String model,
                                    PromptInput prompt,
                                    EngineProfile profile,
                                    Boolean special) {
                                return known
                                        ? new Tokens(new int[] {7, -1}, PROMPT)
                                        : new NoTokenizer();
                            }

                            @Override
                            public Answer detokenize(String model, int[] ids) {
                                return new Refused("tokens", "cannot");
                            }
                        },
                        work -> {
                            if (busy) {
                                throw new RejectedExecutionException();
                            }
                            work.run();
                        });
        engine =
                new StubEngine(
                        call -> {
                            if (call.bodyText().contains("\"stream\":true")) {
                                call.streamHead();
                                for (String part : parts) {
                                    call.chunk(part);
                                }
                                call.lastChunk();
                            } else {
                                call.json(200, WHOLE);
                            }
                        });
        gateway.fleet.workers(
                List.of(Gateway.worker(-1, engine.url(), EngineKind.OPENAI, WorkerState.READY, 1)));
    }

    @AfterEach
    void stop() throws Exception {
        await().untilAsserted(() -> assertEquals(0, gateway.books.open()));
        gateway.close();
        engine.close();
    }

    private static String ask(boolean stream, String nvext) {
        return ("{'model':'m','messages':[{'role':'user','content':'hi'}],'nvext':{" + nvext + "}}")
                .replace('\'', '"')
                .replace("{\"model\"", (stream ? "{\"stream\":true," : "{") + "\"model\"");
    }

    private static JsonNode data(String event) throws Exception {
        return JSON.readTree(event.strip().substring("data: ".length()));
    }

    @Test
    void the_last_chunk_has_the_fields_that_were_asked_for() throws Exception {
        String got =
                gateway.post(ask(true, "'extra_fields':['worker_id','timing','token_ids','x']"))
                        .body();
        assertTrue(got.startsWith(FIRST + LAST) && got.endsWith(DONE), got);
        String last = got.substring((FIRST + LAST).length(), got.length() - DONE.length());
        ObjectNode chunk = (ObjectNode) data(last);
        JsonNode nvext = chunk.remove("nvext");
        assertEquals(data(USAGE), chunk);
        assertEquals(
                JSON.readTree(
                        ("{'prefill_worker_id':W,'prefill_dp_rank':0,'decode_worker_id':W,"
                                        + "'decode_dp_rank':0}")
                                .replace("W", WORKER)
                                .replace('\'', '"')),
                nvext.get("worker_id"));
        assertEquals(JSON.readTree("[7,4294967295]"), nvext.get("token_ids"));
        JsonNode timing = nvext.get("timing");
        double wait = timing.get("prefill_wait_time_ms").asDouble();
        double first = timing.get("ttft_ms").asDouble();
        double total = timing.get("total_time_ms").asDouble();
        assertTrue(0 <= wait && wait <= first && first <= total, timing::toString);
        assertEquals(first, wait + timing.get("prefill_time_ms").asDouble(), 0.002);
        assertEquals((total - first) / 2, timing.get("itl_ms").asDouble(), 0.002);
        assertEquals(0.4, timing.get("kv_hit_rate").asDouble());
        assertTrue(timing.get("request_received_ms").asLong() > 1_600_000_000_000L);
    }

    @Test
    void a_whole_answer_has_them_at_its_end() throws Exception {
        RawClient.Answer answer = gateway.post(ask(false, "'extra_fields':['timing','worker_id']"));
        ObjectNode body = (ObjectNode) JSON.readTree(answer.body());
        JsonNode nvext = body.remove("nvext");
        assertEquals(JSON.readTree(WHOLE), body);
        assertEquals(WORKER, nvext.get("worker_id").get("decode_worker_id").asText());
        assertTrue(nvext.get("timing").get("total_time_ms").asDouble() > 0);
        assertFalse(nvext.get("timing").has("ttft_ms"), "nobody has seen its first token");
        assertFalse(nvext.has("token_ids"), "not asked for");
    }

    @Test
    void an_nvext_of_the_engines_own_and_an_error_are_left_alone() throws Exception {
        String asked = ask(false, "'extra_fields':['worker_id']");
        for (String own : List.of("{\"nvext\":{\"a\":1}}", "[1]", "")) {
            engine.script(call -> call.json(200, own));
            assertEquals(own, gateway.post(asked).body());
        }
        engine.script(call -> call.json(400, "{\"error\":{}}"));
        assertEquals("{\"error\":{}}", gateway.post(asked).body());
        engine.script(call -> call.json(200, "{}"));
        assertTrue(gateway.post(asked).body().startsWith("{\"nvext\":{"));
    }

    @Test
    void annotations_are_events_with_the_value_as_comment_and_as_data() throws Exception {
        String got =
                gateway.post(
                                ask(
                                        true,
                                        "'annotations':['formatted_prompt','token_ids','worker_id',"
                                                + "'llm_metrics','later']"))
                        .body();
        String[] events = got.split("\n\n", -1);
        assertEquals(9, events.length, got);
        annotation("formatted_prompt", JSON.writeValueAsString(PROMPT), events[0]);
        annotation("token_ids", "[7,4294967295]", events[1]);
        annotation(
                "worker_id",
                "{\"prefill_worker_id\":W,\"prefill_dp_rank\":0,\"decode_worker_id\":W,\"decode_dp_rank\":0}"
                        .replace("W", WORKER),
                events[2]);
        assertEquals(
                FIRST + LAST + USAGE, String.join("\n\n", events[3], events[4], events[5], ""));
        annotation(
                "llm_metrics",
                "{\"input_tokens\":40,\"output_tokens\":3,\"cached_tokens\":16}",
                events[6]);
        assertEquals(DONE.strip(), events[7]);
    }

    private static void annotation(String name, String json, String event) throws Exception {
        String[] lines = event.split("\n", -1);
        assertEquals("event: " + name, lines[0]);
        assertEquals(": " + json, lines[1]);
        JsonNode data = data(lines[2]);
        assertEquals("chat.completion.chunk", data.get("object").asText());
        assertEquals(0, data.get("choices").size());
        assertEquals(JSON.readTree(json), data.get("nvext").get(name));
        assertEquals(3, lines.length, event);
    }

    @Test
    void a_prompt_that_is_not_known_here_is_not_shown_and_delays_nothing() throws Exception {
        String asked = ask(true, "'annotations':['formatted_prompt','token_ids']");
        known = false;
        assertEquals(FIRST + LAST + USAGE + DONE, gateway.post(asked).body());
        known = true;
        busy = true;
        assertEquals(FIRST + LAST + USAGE + DONE, gateway.post(asked).body());
        busy = false;
        String ids = asked.replace("\"nvext\":{", "\"nvext\":{\"token_data\":[5],");
        String got = gateway.post(ids).body();
        assertTrue(got.startsWith("event: token_ids\n: [5]\n"), "its text is not known: " + got);
    }

    @Test
    void a_stream_without_done_has_its_metrics_at_its_end() throws Exception {
        parts = new String[] {FIRST, LAST};
        String got = gateway.post(ask(true, "'annotations':['llm_metrics']")).body();
        assertTrue(got.startsWith(FIRST + LAST + "event: llm_metrics\n"), got);
    }

    @Test
    void a_question_is_answered_by_who_would_and_sent_to_nobody() throws Exception {
        String query = "'annotations':['query_instance_id:abc']";
        ObjectNode whole = (ObjectNode) JSON.readTree(gateway.post(ask(false, query)).body());
        assertEquals("chat.completion", whole.get("object").asText());
        assertEquals(0, whole.get("choices").size());
        assertEquals(WORKER, whole.at("/nvext/worker_id/decode_worker_id").asText());
        assertEquals(JSON.readTree("[7,4294967295]"), whole.at("/nvext/token_ids"));
        assertTrue(whole.at("/nvext/routing").isMissingNode(), "not asked for");

        RawClient.Answer stream = gateway.post(ask(true, query), "x-warmpath-explain: 1");
        assertEquals("text/event-stream", stream.header("content-type"));
        assertTrue(stream.body().endsWith("\n\n" + DONE), stream.body());
        JsonNode chunk = data(stream.body().substring(0, stream.body().indexOf("\n\n")));
        assertEquals("chat.completion.chunk", chunk.get("object").asText());
        assertEquals(whole.at("/nvext/worker_id"), chunk.at("/nvext/worker_id"));
        assertFalse(chunk.at("/nvext/routing/candidates").isMissingNode());
        assertEquals(0, engine.calls.size());

        for (String path : List.of("/v1/messages", "/v1/responses", "/v1/embeddings")) {
            RawClient.Answer other =
                    RawClient.post(
                            gateway.port,
                            path,
                            ask(false, query).replace("{\"model\"", "{\"max_tokens\":1,\"model\""));
            assertEquals(400, other.status(), path);
            assertTrue(other.body().contains("query_instance_id"), other.body());
        }
        assertEquals(0, engine.calls.size());

        gateway.fleet.workers(List.of());
        assertEquals(503, gateway.post(ask(true, query)).status(), "no worker is there yet");
    }

    @Test
    void who_asks_for_nothing_gets_every_byte_as_it_is() throws Exception {
        assertEquals(FIRST + LAST + USAGE + DONE, gateway.post(ask(true, "")).body());
        RawClient.Answer whole = gateway.post(ask(false, "'extra_fields':['engine_data']"));
        assertEquals(WHOLE, whole.body());
        assertNull(whole.header("transfer-encoding"));
    }
}
