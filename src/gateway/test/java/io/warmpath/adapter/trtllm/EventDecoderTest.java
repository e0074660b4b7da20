package io.warmpath.adapter.trtllm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.events.KvBatch;
import io.warmpath.events.KvEvent;
import io.warmpath.events.MalformedBatchException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Answers of {@code POST /kv_cache_events}, byte by byte as the engine writes them. */
class EventDecoderTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    static JsonNode vectors() throws IOException {
        try (InputStream in =
                EventDecoderTest.class.getResourceAsStream("/trtllm/kv-cache-events.json")) {
            return JSON.readTree(in);
        }
    }

    static Stream<Arguments> cases() throws IOException {
        Iterator<JsonNode> all = vectors().path("cases").elements();
        Stream.Builder<Arguments> out = Stream.builder();
        all.forEachRemaining(c -> out.add(Arguments.of(c.path("name").asText(), c)));
        return out.build();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void an_answer_means_what_the_engine_meant(String name, JsonNode vector) throws Exception {
        byte[] body = vector.path("body").asText().getBytes(StandardCharsets.UTF_8);
        EventAnswer answer = EventAnswer.read(body);
        assertNull(answer.problem());
        assertEquals(vector.path("expect").size(), answer.events().size());
        Map<Integer, EventDecoder> decoders = new HashMap<>();
        for (int i = 0; i < answer.events().size(); i++) {
            EventAnswer.Event event = answer.events().get(i);
            assertEquals(vector.path("ranks").path(i).asInt(0), event.rank());
            KvBatch batch =
                    decoders.computeIfAbsent(
                                    event.rank(),
                                    r -> new EventDecoder(vector.path("block_size").asInt()))
                            .decode(event.json());
            ArrayNode got = JSON.createArrayNode();
            batch.events().forEach(e -> got.add(json(e)));
            assertEquals(vector.path("expect").path(i), JSON.readTree(got.toString()));
            assertEquals(vector.path("unknown_fields").path(i).asInt(0), batch.unknownFields());
            assertEquals(0, batch.badEvents());
        }
    }

    private static ObjectNode json(KvEvent event) {
        ObjectNode out = JSON.createObjectNode();
        switch (event) {
            case KvEvent.Stored s -> {
                names(out.putArray("stored"), s.hashes());
                out.put("parent", s.hasParent() ? Long.toUnsignedString(s.parent()) : null);
                ArrayNode tokens = out.putArray("tokens");
                Arrays.stream(s.tokens()).forEach(tokens::add);
                out.put("size", s.blockSize());
                out.put("medium", s.medium());
                out.put("plain", s.plainBlocks());
                out.put("salt", s.salt());
                out.put("lora", s.loraName());
                out.put("numbered_lora", s.unnamedLora());
                out.set("scope", scope(s.scope()));
            }
            case KvEvent.Removed r -> {
                names(out.putArray("removed"), r.hashes());
                out.put("medium", r.medium());
                out.set("scope", scope(r.scope()));
            }
            case KvEvent.Cleared c -> out.put("cleared", true);
            case KvEvent.Unknown u -> out.put("unknown", u.tag());
        }
        return out;
    }

    private static void names(ArrayNode to, long[] hashes) {
        Arrays.stream(hashes).forEach(h -> to.add(Long.toUnsignedString(h)));
    }

    private static @Nullable JsonNode scope(KvEvent.Scope scope) {
        return scope.equals(KvEvent.Scope.NONE)
                ? null
                : JSON.createArrayNode()
                        .add(scope.group())
                        .add(scope.specKind())
                        .add(scope.window());
    }

    @Test
    void what_is_no_event_is_refused() throws IOException {
        EventDecoder decoder = new EventDecoder(2);
        for (JsonNode bad : vectors().path("malformed")) {
            byte[] json = bad.asText().getBytes(StandardCharsets.UTF_8);
            assertThrows(MalformedBatchException.class, () -> decoder.decode(json), bad.asText());
        }
    }

    @Test
    void of_an_answer_that_is_cut_the_whole_events_are_read() throws Exception {
        byte[] body =
                vectors()
                        .path("cases")
                        .path(0)
                        .path("body")
                        .asText()
                        .getBytes(StandardCharsets.UTF_8);
        EventAnswer whole = EventAnswer.read(body);
        int before = 0;
        for (int n = 0; n < body.length; n++) {
            EventAnswer cut = EventAnswer.read(Arrays.copyOf(body, n));
            assertNotNull(cut.problem());
            int read = cut.events().size();
            assertTrue(read == before || read == before + 1, "at " + n);
            for (int i = 0; i < read; i++) {
                assertEquals(
                        new String(whole.events().get(i).json(), StandardCharsets.UTF_8),
                        new String(cut.events().get(i).json(), StandardCharsets.UTF_8));
            }
            before = read;
        }
        assertEquals(3, before);
    }

    @Test
    void something_else_than_a_list_is_no_answer() {
        for (String body : new String[] {"", "{}", "nope", "[1]", "[[]]", "[{},", "\"[]\""}) {
            assertNotNull(EventAnswer.read(body.getBytes(StandardCharsets.UTF_8)).problem(), body);
        }
        EventAnswer without = EventAnswer.read("[{\"data\":{}}]".getBytes(StandardCharsets.UTF_8));
        assertEquals(-1, without.events().getFirst().id());
    }

    /** Bytes from outside end in an event or in a refusal, never in anything else. */
    @Test
    void changed_bytes_do_no_harm() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        JsonNode cases = vectors().path("cases");
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] body =
                    cases.path(random.nextInt(cases.size()))
                            .path("body")
                            .asText()
                            .getBytes(StandardCharsets.UTF_8);
            for (int n = random.nextInt(4); n >= 0; n--) {
                body[random.nextInt(body.length)] = (byte) random.nextInt(256);
            }
            EventDecoder decoder = new EventDecoder(2);
            for (EventAnswer.Event event : EventAnswer.read(body).events()) {
                try {
                    decoder.decode(event.json());
                } catch (MalformedBatchException e) {
                    refused++;
                } catch (RuntimeException e) {
                    throw new AssertionError(
                            "seed " + seed + ": " + new String(body, StandardCharsets.UTF_8), e);
                }
            }
        }
        assertTrue(refused > 100, "seed " + seed);
    }

    @Test
    void a_larger_window_shows_that_the_first_events_were_not_heard() throws Exception {
        EventDecoder decoder = new EventDecoder(2);
        assertFalse(decoder.contradicts(128));
        decoder.decode(event(0, "{\"type\":\"created\",\"num_blocks_per_cache_level\":[1]}", 128));
        assertFalse(decoder.contradicts(4096), "the engine is still telling of its windows");
        decoder.decode(event(1, "{\"type\":\"removed\",\"block_hashes\":[1]}", 128));
        assertFalse(decoder.contradicts(64));
        assertTrue(decoder.contradicts(4096));
        decoder.forget();
        assertFalse(decoder.contradicts(4096));
    }

    private static byte[] event(int id, String data, int window) {
        return ("{\"event_id\":" + id + ",\"data\":" + data + ",\"window_size\":" + window + "}")
                .getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void of_an_answer_of_very_many_events_the_first_are_read() {
        byte[] body =
                ("[" + "{\"event_id\":1},".repeat(100_000) + "{}]")
                        .getBytes(StandardCharsets.UTF_8);
        EventAnswer answer = EventAnswer.read(body);
        assertEquals(1 << 16, answer.events().size());
        assertNotNull(answer.problem());
    }

    /** An engine that tells of new blocks in slower memory for ever, and takes none away. */
    @Test
    void of_blocks_without_end_the_newest_are_remembered() throws Exception {
        EventDecoder decoder = new EventDecoder(1);
        int blocks = EventDecoder.MOST_KEPT + 10_000;
        for (int from = 0; from < blocks; from += 10_000) {
            StringBuilder event = new StringBuilder(700_000);
            event.append("{\"event_id\":1,\"data\":{\"type\":\"stored\",\"blocks\":[");
            for (int i = from; i < from + 10_000; i++) {
                event.append(i == from ? "" : ",")
                        .append("{\"block_hash\":")
                        .append(i)
                        .append(",\"cache_level\":1,\"tokens\":[{\"token_id\":7}]}");
            }
            decoder.decode(event.append("]}}").toString().getBytes(StandardCharsets.UTF_8));
        }
        assertEquals(1, moved(decoder, 0).size(), "it has left, nobody knows what it was");
        assertEquals(2, moved(decoder, blocks - 10_001).size(), "it is there, and has left");
    }

    private static List<KvEvent> moved(EventDecoder decoder, int block) throws Exception {
        return decoder.decode(
                        ("{\"event_id\":2,\"data\":{\"type\":\"updated\",\"block_hash\":"
                                        + block
                                        + ",\"cache_level\":{\"type\":\"event_diff\","
                                        + "\"new_value\":0,\"old_value\":1}}}")
                                .getBytes(StandardCharsets.UTF_8))
                .events();
    }
}
