package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.adapter.zmq.Payload.BadValue;
import io.warmpath.events.MalformedBatchException;
import io.warmpath.pool.JdkPageDigests;
import io.warmpath.pool.LmcacheChunks;
import io.warmpath.pool.LmcacheInstances;
import io.warmpath.pool.PoolQuestion;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.StreamSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What LMCache's own workers have told, its own controller answered and its own caches held:
 * recorded by {@code src/test/engines/record_lmcache.py}.
 */
class LmcacheRecordingTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();

    private final LmcacheInstances instances = new LmcacheInstances(1 << 20);

    private static List<JsonNode> lines(String name) throws Exception {
        List<JsonNode> lines = new ArrayList<>();
        try (InputStream in =
                LmcacheRecordingTest.class.getResourceAsStream("/lmcache/" + name + ".jsonl")) {
            for (String line :
                    new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
                lines.add(JSON.readTree(line));
            }
        }
        return lines;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lmcache-0.5.6-vllm-0.32.0-sha256_cbor",
                "lmcache-0.5.6-vllm-0.32.0-builtin"
            })
    void what_is_known_is_what_the_caches_hold(String name) throws Exception {
        List<JsonNode> lines = lines(name);
        JsonNode about = lines.getFirst();
        int states = 0;
        int runs = 0;
        int answers = 0;
        for (JsonNode line : lines.subList(1, lines.size())) {
            if (line.has("pushed")) {
                for (JsonNode frame : line.get("pushed")) {
                    push(LmcacheMessage.read(HEX.parseHex(frame.asText())));
                }
            } else if (line.has("asked")) {
                answers += answered(line, about.get("heartbeat_url").asText()) ? 1 : 0;
            } else {
                states++;
                for (JsonNode prompt : line.get("prompts")) {
                    runs += found(prompt, about);
                }
            }
        }
        assertEquals(4, states);
        assertTrue(runs > 100, runs + " chunks found");
        assertTrue(answers > 10, answers + " answers equal");
    }

    private void push(LmcacheMessage m) {
        switch (m.type()) {
            case "BatchedKVOperationMsg" ->
                    instances.changed(m.instance(), m.worker(), m.location(), m.operations());
            case "FullSyncBatchMsg" ->
                    instances.batch(
                            m.instance(),
                            m.worker(),
                            m.location(),
                            m.syncId(),
                            m.number(),
                            m.keys());
            case "FullSyncEndMsg" -> instances.end(m.instance(), m.worker(), m.syncId());
            case "DeRegisterMsg" -> instances.deregistered(m.instance(), m.worker());
            default -> throw new AssertionError(m);
        }
    }

    /**
     * True where the answer is LMCache's byte for byte. Heartbeats are compared by both forms: its
     * controller wants all from every worker when it begins, and waits for all of them.
     */
    private boolean answered(JsonNode line, String heartbeats) throws Exception {
        assertEquals("", line.get("asked").get(0).asText());
        assertEquals("", line.get("answer").get(0).asText());
        LmcacheMessage m = LmcacheMessage.read(HEX.parseHex(line.get("asked").get(1).asText()));
        byte[] theirs = HEX.parseHex(line.get("answer").get(1).asText());
        String text = new String(theirs, StandardCharsets.ISO_8859_1);
        switch (m.type()) {
            case "RegisterMsg" -> {
                instances.registered(m.instance(), m.worker());
                assertArrayEquals(theirs, LmcacheAnswer.registered(heartbeats));
            }
            case "HeartbeatMsg" -> {
                byte[] ours = LmcacheAnswer.heard(text.contains("full_sync"));
                assertArrayEquals(
                        text.replace("\u00b2controller_restart", "\u00b4worker_re_registered")
                                .getBytes(StandardCharsets.ISO_8859_1),
                        ours);
            }
            case "FullSyncStartMsg" -> {
                boolean accepted =
                        instances.begin(
                                m.instance(), m.worker(), m.location(), m.syncId(), m.number());
                assertArrayEquals(theirs, LmcacheAnswer.begun(m.syncId(), accepted));
            }
            case "FullSyncStatusMsg" -> {
                LmcacheInstances.SyncStatus status =
                        instances.status(m.instance(), m.worker(), m.syncId());
                assertTrue(status.known());
                byte[] ours = LmcacheAnswer.status(m.syncId(), status);
                // Progress of the whole fleet, and with it the end of its freeze, is theirs.
                JsonFields.same(theirs, ours, "sync_id", "is_complete", "missing_batches");
                return java.util.Arrays.equals(theirs, ours);
            }
            default -> throw new AssertionError(m);
        }
        return true;
    }

    private int found(JsonNode prompt, JsonNode about) throws Exception {
        int[] ids =
                StreamSupport.stream(prompt.get("ids").spliterator(), false)
                        .mapToInt(JsonNode::asInt)
                        .toArray();
        int found = 0;
        for (Map.Entry<String, JsonNode> run : prompt.get("runs").properties()) {
            LmcacheChunks recipe = recipe(run.getKey(), about);
            byte[] digests = recipe.digests(new PoolQuestion(ids), new JdkPageDigests());
            List<String> keys = new ArrayList<>();
            for (int i = 0; i < ids.length / recipe.pageSize(); i++) {
                recipe.keys(digests, i, keys);
            }
            List<String> theirs = new ArrayList<>();
            prompt.get("hashes").forEach(h -> theirs.add(h.asText()));
            assertEquals(theirs, keys);
            int held =
                    instances
                            .store(run.getKey())
                            .held(keys)
                            .toCompletableFuture()
                            .get()
                            .nextClearBit(0);
            assertEquals(run.getValue().asInt(), held, run.getKey() + " " + prompt.get("ids"));
            found += held;
        }
        return found;
    }

    private static LmcacheChunks recipe(String instance, JsonNode about) {
        return new LmcacheChunks(
                instance,
                about.get("chunk_size").asInt(),
                16,
                LmcacheChunks.Hashing.parse(about.get("hash_algorithm").asText()),
                about.get("hash_seed").asText());
    }

    @ParameterizedTest
    @ValueSource(strings = "lmcache-0.5.6-vllm-0.32.0-sha256_cbor")
    void a_broken_message_is_told_from_a_sound_one(String name) throws Exception {
        List<byte[]> sound = new ArrayList<>();
        for (JsonNode line : lines(name)) {
            if (line.has("pushed")) {
                line.get("pushed").forEach(f -> sound.add(HEX.parseHex(f.asText())));
            }
        }
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = sound.get(random.nextInt(sound.size())).clone();
            if (random.nextInt(4) == 0) {
                bytes = java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length));
            }
            for (int n = random.nextInt(3); n >= 0 && bytes.length > 0; n--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            try {
                LmcacheMessage m = LmcacheMessage.read(bytes);
                assertFalse(m.instance().isEmpty(), "seed " + seed + ", " + i);
            } catch (MalformedBatchException | BadValue e) {
                refused++;
            }
        }
        assertTrue(refused > 1000, "seed " + seed + ": " + refused);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "80", // nothing
                "81a474797065ab52656769737465724d7367", // RegisterMsg and no more
                "81a474797065aa436c6561724d73674d7367", // a type that is none
                "92a0a0", // no map
                "dfffffffff", // four thousand million fields
                "81a474797065dbffffffff", // a text as long
                "c1"
            })
    void a_message_that_says_too_little_is_refused(String hex) {
        Exception e = assertThrows(Exception.class, () -> LmcacheMessage.read(HEX.parseHex(hex)));
        assertTrue(e instanceof BadValue || e instanceof MalformedBatchException, e.toString());
    }

    /** Fields of two messages by their names. */
    private static final class JsonFields {
        private static final String NOT_THERE = "not there";

        static void same(byte[] a, byte[] b, String... names) throws Exception {
            for (String name : names) {
                assertEquals(field(a, name), field(b, name), name);
            }
        }

        private static String field(byte[] message, String name) throws Exception {
            Payload in = new Payload(message);
            for (int n = in.map(); n > 0; n--) {
                boolean wanted = in.string().equals(name);
                int from = in.position();
                in.skip();
                if (wanted) {
                    return HEX.formatHex(message, from, in.position());
                }
            }
            return NOT_THERE;
        }
    }
}
