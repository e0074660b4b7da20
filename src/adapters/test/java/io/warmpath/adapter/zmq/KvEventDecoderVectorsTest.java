package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.events.KvBatch;
import io.warmpath.events.KvEvent;
import io.warmpath.events.MalformedBatchException;
import io.warmpath.prefix.MediaIds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every message that the engines' own code wrote, and every broken one, byte for byte. */
class KvEventDecoderVectorsTest {
    /** Mutated payloads that are tried. */
    private static final int PAYLOADS = Integer.getInteger("test.payloads", 20_000);

    private static final JsonNode VECTORS = load();
    private final KvEventDecoder decoder = new KvEventDecoder();

    private static JsonNode load() {
        try (InputStream in =
                KvEventDecoderVectorsTest.class.getResourceAsStream(
                        "/vectors/kv-events-zmq.json")) {
            return new ObjectMapper().readTree(in);
        } catch (IOException e) {
            throw new IllegalStateException("vectors are missing", e);
        }
    }

    @Test
    void all_vectors_are_there() {
        assertEquals(174, VECTORS.get("messages").size());
        assertEquals(73, VECTORS.get("malformed").size());
        assertEquals(9, VECTORS.get("framing").size());
        assertEquals(6, VECTORS.get("replay").size());
    }

    @TestFactory
    Stream<DynamicTest> messages_decode_as_their_engine_meant_them() {
        return cases("messages")
                .map(
                        c ->
                                DynamicTest.dynamicTest(
                                        c.get("engine").asText()
                                                + " "
                                                + c.get("version").asText()
                                                + ": "
                                                + c.get("name").asText(),
                                        () -> checkMessage(c)));
    }

    private void checkMessage(JsonNode c) throws MalformedBatchException {
        EventMessages.Message frame = EventMessages.live(frames(c.get("frames"))).orElseThrow();
        assertEquals(c.get("seq").asText(), Long.toUnsignedString(frame.sequence()));
        KvBatch batch = decoder.decode(frame.payload());
        JsonNode expect = c.get("expect");
        assertEquals(expect.get("ts").asDouble(), batch.timestamp());
        assertEquals(
                expect.get("rank").isNull() ? KvBatch.NO_RANK : expect.get("rank").asInt(),
                batch.rank());
        assertEquals(0, batch.badEvents());
        JsonNode events = expect.get("events");
        assertEquals(events.size(), batch.events().size());
        boolean unknownFields = false;
        for (int i = 0; i < events.size(); i++) {
            checkEvent(events.get(i), batch.events().get(i));
            unknownFields |= events.get(i).has("ignored_fields");
        }
        if (unknownFields) {
            assertTrue(batch.unknownFields() > 0, "unknown fields were not counted");
        } else if (!c.get("name").asText().startsWith("extra element")) {
            assertEquals(0, batch.unknownFields());
        }
    }

    private static void checkEvent(JsonNode expect, KvEvent event) {
        switch (expect.get("type").asText()) {
            case "stored" -> checkStored(expect, assertInstanceOf(KvEvent.Stored.class, event));
            case "removed" -> {
                KvEvent.Removed removed = assertInstanceOf(KvEvent.Removed.class, event);
                assertArrayEquals(ids(expect.get("ids")), removed.hashes());
                assertEquals(text(expect, "medium"), removed.medium());
                checkScope(expect, removed.scope());
            }
            case "cleared" -> assertInstanceOf(KvEvent.Cleared.class, event);
            case "unknown" -> assertEquals(new KvEvent.Unknown(expect.get("tag").asText()), event);
            default -> fail("vector of unknown type " + expect);
        }
    }

    private static void checkStored(JsonNode expect, KvEvent.Stored stored) {
        assertArrayEquals(ids(expect.get("ids")), stored.hashes());
        assertEquals(!expect.get("parent_id").isNull(), stored.hasParent());
        if (stored.hasParent()) {
            assertEquals(expect.get("parent_id").asText(), Long.toUnsignedString(stored.parent()));
        }
        JsonNode tokens = expect.get("token_ids");
        boolean pairs = tokens.size() > 0 && tokens.get(0).isArray();
        assertEquals(pairs, stored.bigram());
        int[] want = new int[tokens.size() + (pairs ? 1 : 0)];
        for (int i = 0; i < tokens.size(); i++) {
            JsonNode token = tokens.get(i);
            want[i] = (int) (pairs ? token.get(0) : token).asLong();
            if (pairs) {
                want[i + 1] = (int) token.get(1).asLong();
            }
        }
        boolean image = expect.path("extra_keys").toString().contains("[[[\"");
        if (image) {
            JsonNode key = expect.path("extra_keys").path(0).path(0);
            int start = key.path(1).asInt();
            MediaIds.of(key.path(0).asText()).put(want, start, start, start + 1);
        }
        assertArrayEquals(want, stored.tokens());
        assertEquals(expect.get("block_size").asInt(), stored.blockSize());
        assertEquals(text(expect, "medium"), stored.medium());
        assertEquals(text(expect, "lora_name"), stored.loraName());
        assertEquals(text(expect, "session_id"), stored.sessionId());
        assertEquals(
                expect.path("lora_id").asInt(0) > 0 && !expect.has("lora_name"),
                stored.unnamedLora());
        assertEquals(expectedSalt(expect), stored.salt());
        assertEquals(expect.get("ids").size(), stored.plainBlocks());
        checkScope(expect, stored.scope());
    }

    private static @Nullable String expectedSalt(JsonNode expect) {
        String keys = expect.path("extra_keys").toString();
        if (keys.contains("dynamo-cache-salt:tenant-a")) {
            return "dynamo-cache-salt:tenant-a"; // what the engine was given
        }
        return keys.contains("salt-1") ? "salt-1" : text(expect, "cache_salt");
    }

    private static void checkScope(JsonNode expect, KvEvent.Scope scope) {
        assertEquals(
                expect.path("group_idx").asInt(KvEvent.Scope.NO_GROUP), scope.group(), "group");
        assertEquals(text(expect, "kv_cache_spec_kind"), scope.specKind());
        assertEquals(expect.path("kv_cache_spec_sliding_window").asInt(0), scope.window());
        assertEquals(text(expect, "locality"), scope.locality());
    }

    @TestFactory
    Stream<DynamicTest> broken_payloads_cost_what_they_must_and_no_more() {
        return cases("malformed")
                .map(c -> DynamicTest.dynamicTest(c.get("name").asText(), () -> checkBroken(c)));
    }

    private void checkBroken(JsonNode c) throws MalformedBatchException {
        byte[] payload = bytes(c.get("payload"));
        switch (c.get("outcome").asText()) {
            case "rejected" ->
                    assertThrows(MalformedBatchException.class, () -> decoder.decode(payload));
            case "event_rejected" -> {
                KvBatch batch = decoder.decode(payload);
                assertEquals(1, batch.badEvents());
                assertEquals(c.get("kept").size(), batch.events().size());
                KvEvent.Removed kept =
                        assertInstanceOf(KvEvent.Removed.class, batch.events().getFirst());
                assertEquals(1, kept.hashes().length);
            }
            case "either", "no_crash" -> decodeOrReject(payload);
            default -> fail("unknown outcome " + c.get("outcome"));
        }
    }

    @Test
    void a_pair_of_tokens_follows_the_one_before() throws MalformedBatchException {
        JsonNode vector =
                cases("messages")
                        .filter(c -> c.get("name").asText().equals("bigram tokens"))
                        .findFirst()
                        .orElseThrow();
        byte[] payload = EventMessages.live(frames(vector.get("frames"))).orElseThrow().payload();
        assertEquals(0, decoder.decode(payload).badEvents());
        String hex = HexFormat.of().formatHex(payload);
        byte[] torn = HexFormat.of().parseHex(hex.replace("92000192010292", "92000192050292"));
        assertEquals(1, decoder.decode(torn).badEvents());
    }

    @TestFactory
    Stream<DynamicTest> frames_that_are_no_event_message_are_refused() {
        return cases("framing")
                .map(
                        c ->
                                DynamicTest.dynamicTest(
                                        c.get("name").asText(),
                                        () -> {
                                            Optional<EventMessages.Message> frame =
                                                    EventMessages.live(frames(c.get("frames")));
                                            if (c.get("outcome").asText().equals("rejected")) {
                                                assertTrue(frame.isEmpty());
                                            } else {
                                                assertEquals(
                                                        c.path("seq").asText("0"),
                                                        Long.toUnsignedString(
                                                                frame.orElseThrow().sequence()));
                                            }
                                        }));
    }

    @TestFactory
    Stream<DynamicTest> replay_answers_of_both_shapes_are_read() {
        return cases("replay")
                .flatMap(
                        r ->
                                stream(r.get("requests"))
                                        .filter(q -> q.get("socket").asText().equals("DEALER"))
                                        .map(
                                                q ->
                                                        DynamicTest.dynamicTest(
                                                                r.get("engine").asText()
                                                                        + " "
                                                                        + r.get("version").asText()
                                                                        + ": "
                                                                        + q.get("name").asText(),
                                                                () -> checkReplay(r, q))));
    }

    private void checkReplay(JsonNode engine, JsonNode request) throws MalformedBatchException {
        JsonNode replies = request.get("replies");
        for (int i = 0; i < replies.size(); i++) {
            EventMessages.Message frame =
                    EventMessages.replay(frames(replies.get(i))).orElseThrow();
            assertEquals(i == replies.size() - 1, frame.end());
            if (!frame.end()) {
                JsonNode live = engine.get("live").get((int) frame.sequence());
                assertArrayEquals(bytes(live.get(2)), frame.payload());
                assertEquals(1, decoder.decode(frame.payload()).events().size());
            }
        }
    }

    @Test
    void a_replay_request_has_the_bytes_that_engines_answer() {
        JsonNode from4 = VECTORS.get("replay").get(0).get("requests").get(1);
        assertEquals("from 4", from4.get("name").asText());
        List<byte[]> want = frames(from4.get("frames"));
        List<byte[]> made = EventMessages.request(4);
        assertEquals(want.size(), made.size());
        for (int i = 0; i < want.size(); i++) {
            assertArrayEquals(want.get(i), made.get(i));
        }
    }

    @Test
    void digests_become_the_integers_that_the_engine_itself_would_send() {
        for (JsonNode v : VECTORS.get("vllm_wire_hash")) {
            byte[] digest = bytes(v.get("digest"));
            byte[] head = HexFormat.of().parseHex("93cb3ff80000000000009192ac");
            byte[] tag = "BlockRemoved".getBytes(StandardCharsets.US_ASCII);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.writeBytes(head);
            out.writeBytes(tag);
            out.writeBytes(new byte[] {(byte) 0x91, (byte) 0xc4, (byte) digest.length});
            out.writeBytes(digest);
            out.write(0);
            try {
                KvEvent.Removed removed =
                        assertInstanceOf(
                                KvEvent.Removed.class,
                                decoder.decode(out.toByteArray()).events().getFirst());
                assertEquals(v.get("as_int").asText(), Long.toUnsignedString(removed.hashes()[0]));
            } catch (MalformedBatchException e) {
                fail(e);
            }
        }
    }

    /** Mutations of every real payload: any answer, but never another exception and never long. */
    @Test
    void no_mutation_of_a_real_payload_crashes_the_decoder() {
        long seed = Long.getLong("warmpath.test.seed", 20_261_121);
        Random random = new Random(seed);
        List<byte[]> payloads = new ArrayList<>();
        cases("messages").forEach(c -> payloads.add(bytes(c.get("frames").get(2))));
        int decoded = 0;
        for (int round = 0; round < PAYLOADS; round++) {
            byte[] payload = payloads.get(random.nextInt(payloads.size())).clone();
            for (int i = random.nextInt(3); i >= 0; i--) {
                payload[random.nextInt(payload.length)] = (byte) random.nextInt(256);
            }
            try {
                decoded += decodeOrReject(payload) ? 1 : 0;
            } catch (RuntimeException | Error e) {
                fail(
                        "seed "
                                + seed
                                + " round "
                                + round
                                + ": "
                                + HexFormat.of().formatHex(payload),
                        e);
            }
        }
        assertTrue(decoded > 1000, "the mutations never left a readable batch: " + decoded);
    }

    private boolean decodeOrReject(byte[] payload) {
        try {
            KvBatch batch = decoder.decode(payload);
            assertTrue(batch.events().size() + batch.badEvents() <= payload.length);
            return true;
        } catch (MalformedBatchException e) {
            assertNotNull(e.getMessage());
            return false;
        }
    }

    private static Stream<JsonNode> cases(String list) {
        return stream(VECTORS.get(list));
    }

    private static Stream<JsonNode> stream(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false);
    }

    private static List<byte[]> frames(JsonNode list) {
        return stream(list).map(KvEventDecoderVectorsTest::bytes).toList();
    }

    private static byte[] bytes(JsonNode hex) {
        return HexFormat.of().parseHex(hex.asText());
    }

    private static long[] ids(JsonNode list) {
        return stream(list).mapToLong(n -> Long.parseUnsignedLong(n.asText())).toArray();
    }

    private static @Nullable String text(JsonNode event, String field) {
        return event.hasNonNull(field) ? event.get(field).asText() : null;
    }
}
