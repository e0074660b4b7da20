package io.warmpath.sim.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.TestVectors;
import io.warmpath.sim.cache.CacheEvent;
import io.warmpath.sim.cache.CacheEvent.Cleared;
import io.warmpath.sim.cache.CacheEvent.Removed;
import io.warmpath.sim.cache.CacheEvent.Stored;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.cache.Medium;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The simulator's messages, byte for byte against the engines' own structs and running engines. */
class EventEncoderTest {
    /** Struct vectors that say something the simulator can say, per imitated version. */
    private static final Set<String> SAID =
            Set.of(
                    "sglang 0.5.18 one event with two hashes",
                    "sglang 0.5.18 removed",
                    "sglang 0.5.18 cleared",
                    "sglang 0.5.18 empty batch",
                    "sglang 0.5.18 store, remove, clear in one batch",
                    "sglang 0.5.18 two pages stored, rank 0",
                    "sglang 0.5.18 salted: metadata map at index 7",
                    "sglang 0.5.23 one event with two hashes",
                    "sglang 0.5.23 removed",
                    "sglang 0.5.23 cleared",
                    "sglang 0.5.23 empty batch",
                    "sglang 0.5.23 store, remove, clear in one batch",
                    "sglang 0.5.23 two pages stored, rank 0",
                    "sglang 0.5.23 salt",
                    "sglang 0.5.23 session",
                    "sglang 0.5.23 salt and session",
                    "vllm 0.19.1 removed",
                    "vllm 0.19.1 cleared",
                    "vllm 0.19.1 empty batch",
                    "vllm 0.19.1 dynamo salt in block 0",
                    "vllm 0.33.0 cleared",
                    "vllm 0.33.0 empty batch");

    @Test
    void messages_equal_those_of_the_engines_structs() {
        int compared = 0;
        for (JsonNode m : TestVectors.file("vectors/kv-events-zmq.json").path("messages")) {
            String engine = m.path("engine").asText() + " " + m.path("version").asText();
            if (!SAID.contains(engine + " " + m.path("name").asText())) {
                continue;
            }
            WireFormat format =
                    switch (engine) {
                        case "sglang 0.5.18" -> WireFormat.SGLANG_ARRAY;
                        case "sglang 0.5.23" -> WireFormat.SGLANG_MAP;
                        case "vllm 0.19.1" -> WireFormat.VLLM_ARRAY;
                        default -> WireFormat.VLLM_MAP;
                    };
            List<CacheEvent> events = new ArrayList<>();
            for (JsonNode e : m.path("expect").path("events")) {
                events.add(event(e, format.sglang(), e.path("type").asText(), "hashes", "parent"));
            }
            byte[] made =
                    new EventEncoder(format, false)
                            .encode(
                                    m.path("expect").path("ts").doubleValue(),
                                    events,
                                    m.path("expect").path("rank").intValue());
            assertEquals(
                    m.path("frames").get(2).asText(),
                    HexFormat.of().formatHex(made),
                    engine + " " + m.path("name").asText());
            compared++;
        }
        assertEquals(SAID.size(), compared);
    }

    @ParameterizedTest
    @CsvSource({
        "captures/sglang-0.5.23-p16.jsonl, SGLANG_MAP, false, 40",
        "captures/sglang-0.5.23-hicache-p16.jsonl, SGLANG_MAP, false, 60",
        "captures/sglang-0.5.23-session-dp2-p16.jsonl, SGLANG_MAP, false, 6",
        "captures/vllm-0.32.0-cbor-b32.jsonl, VLLM_MAP, false, 30",
        "captures/vllm-0.32.0-dp2-bytes-b64.jsonl, VLLM_MAP, true, 30"
    })
    void messages_equal_those_of_running_engines(
            String capture, WireFormat format, boolean rawHashes, int atLeast) {
        EventEncoder encoder = new EventEncoder(format, rawHashes);
        int compared = 0;
        for (JsonNode line : TestVectors.lines(capture)) {
            if (!line.path("k").asText().equals("event")) {
                continue;
            }
            JsonNode batch = line.path("decoded");
            List<CacheEvent> events = new ArrayList<>();
            for (JsonNode e : batch.get(1)) {
                String type = e.path("type").asText();
                events.add(event(e, format.sglang(), type, "block_hashes", "parent_block_hash"));
            }
            byte[] made =
                    encoder.encode(batch.get(0).doubleValue(), events, batch.get(2).intValue());
            assertEquals(
                    line.path("frames").get(line.path("frames").size() - 1).asText(),
                    HexFormat.of().formatHex(made),
                    () -> "event at " + line.path("t"));
            compared++;
        }
        assertTrue(compared >= atLeast, "only " + compared + " messages compared");
    }

    private static CacheEvent event(
            JsonNode e, boolean sglang, String type, String hashes, String parent) {
        return switch (type.toLowerCase(Locale.ROOT)) {
            case "blockstored", "stored" ->
                    new Stored(
                            medium(e),
                            e.path(parent).isNull() ? null : digest(e.path(parent), sglang),
                            digests(e.path(hashes), sglang),
                            TestVectors.tokens(e.path("token_ids")),
                            e.path("block_size").intValue(),
                            new CacheSpace(salt(e), null),
                            e.has("session_id") ? e.path("session_id").asText() : null);
            case "blockremoved", "removed" ->
                    new Removed(medium(e), digests(e.path(hashes), sglang));
            case "allblockscleared", "cleared" -> new Cleared();
            default -> throw new IllegalArgumentException(type);
        };
    }

    private static @Nullable String salt(JsonNode e) {
        if (e.has("cache_salt")) {
            return e.path("cache_salt").asText();
        }
        JsonNode first = e.path("extra_keys").path(0);
        return first.isArray() ? first.get(0).asText() : null;
    }

    private static Medium medium(JsonNode e) {
        return e.path("medium").asText().equals("GPU") ? Medium.GPU : Medium.HOST;
    }

    private static List<byte[]> digests(JsonNode list, boolean sglang) {
        List<byte[]> digests = new ArrayList<>();
        list.forEach(h -> digests.add(digest(h, sglang)));
        return digests;
    }

    /** A digest whose head (SGLang) or tail (vLLM) is the id on the wire. */
    private static byte[] digest(JsonNode hash, boolean sglang) {
        if (hash.isObject()) {
            return HexFormat.of().parseHex(hash.path("hex").asText());
        }
        long id =
                hash.isTextual()
                        ? new BigInteger(hash.asText()).longValue()
                        : hash.bigIntegerValue().longValue();
        return ByteBuffer.allocate(32).putLong(sglang ? 0 : 24, id).array();
    }
}
