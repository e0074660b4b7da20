package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.prefix.Bigrams;
import io.warmpath.prefix.PrefixSpace;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Hashes and trees of the recorded vectors, through the native library as Java calls it. */
class VectorsTest {
    @BeforeAll
    static void load() {
        KvIndexLibrary.load(Optional.empty());
    }

    @TestFactory
    List<DynamicTest> block_hashes_are_the_recorded_ones() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode c : read("block-hashes.json").get("cases")) {
            // Images are not part of this ABI yet.
            if (c.get("mm").isNull()) {
                tests.add(DynamicTest.dynamicTest(c.get("name").asText(), () -> hashes(c)));
            }
        }
        assertEquals(56, tests.size(), "cases without images");
        return tests;
    }

    private static void hashes(JsonNode c) {
        PrefixSpace space = new PrefixSpace(textOf(c.get("lora")), textOf(c.get("namespace")));
        int blockSize = c.get("block_size").asInt();
        int[] tokens = new int[c.get("tokens").size()];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = (int) c.get("tokens").get(i).asLong();
        }
        if (c.get("eagle").asBoolean(false)) {
            tokens = Bigrams.of(tokens, tokens.length, blockSize, space).tokens();
            blockSize = Bigrams.blockSize(blockSize);
        }
        long[] locals = u64s(c.get("local"));
        long[] sequence = u64s(c.get("sequence"));
        long seed = new Scratch().seed(space);
        assertEquals(Long.parseUnsignedLong(c.get("seed").asText()), seed, "seed");

        try (Arena arena = Arena.ofConfined()) {
            MemorySegment in = arena.allocateFrom(ValueLayout.JAVA_INT, tokens);
            MemorySegment outLocals = arena.allocate(8L * Math.max(1, locals.length), 8);
            MemorySegment outSequence = arena.allocate(8L * Math.max(1, locals.length), 8);
            MemorySegment count = arena.allocate(8, 8);
            Status.check(
                    KvIndexLibrary.kvi_hash(
                            in.address(),
                            tokens.length,
                            blockSize,
                            seed,
                            outLocals.address(),
                            outSequence.address(),
                            locals.length,
                            count.address()),
                    "kvi_hash");
            assertEquals(locals.length, count.get(ValueLayout.JAVA_INT, 0));
            assertArrayEquals(locals, longs(outLocals, locals.length), "local");
            assertArrayEquals(sequence, longs(outSequence, locals.length), "sequence");
        }
    }

    @TestFactory
    List<DynamicTest> trees_answer_as_recorded() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode tree : read("dynamo-events.json").get("trees")) {
            tests.add(DynamicTest.dynamicTest(tree.get("name").asText(), () -> tree(tree)));
        }
        assertEquals(4, tests.size());
        return tests;
    }

    /** Events and queries of these trees carry local hashes, no tokens. */
    private static void tree(JsonNode tree) throws IOException {
        ObjectMapper json = new ObjectMapper();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(64, 8);
            Status.check(KvIndexLibrary.kvi_open(0, out.address()), "kvi_open");
            long handle = out.get(ValueLayout.JAVA_LONG, 0);
            try {
                Map<Long, Integer> slots = new HashMap<>();
                for (JsonNode text : tree.get("events")) {
                    apply(handle, json.readTree(text.asText()), slots, arena);
                }
                for (JsonNode query : tree.get("queries")) {
                    Map<String, Integer> expected = new TreeMap<>();
                    query.get("matches")
                            .properties()
                            .forEach(e -> expected.put(e.getKey(), e.getValue().asInt()));
                    assertEquals(
                            expected,
                            match(handle, u64s(query.get("locals")), slots, arena),
                            "query " + query.get("locals"));
                }
                assertTrue(tree.get("queries").size() > 0);
            } finally {
                Status.check(KvIndexLibrary.kvi_close(handle), "kvi_close");
            }
        }
    }

    private static void apply(long handle, JsonNode event, Map<Long, Integer> slots, Arena arena) {
        MemorySegment out = arena.allocate(KvLayout.APPLIED_SIZE, 8);
        long worker = event.get("worker_id").asLong();
        int slot =
                slots.computeIfAbsent(
                        worker,
                        w -> {
                            Status.check(
                                    KvIndexLibrary.kvi_slot_open(handle, 0, 0, out.address()),
                                    "kvi_slot_open");
                            return out.get(ValueLayout.JAVA_INT, 0);
                        });
        JsonNode data = event.get("event").get("data");
        MemorySegment record;
        if (data.has("stored")) {
            JsonNode blocks = data.get("stored").get("blocks");
            JsonNode parent = data.get("stored").get("parent_hash");
            int n = blocks.size();
            record = record(arena, 2 /* STORED_LOCALS */, slot, n, 16L * n);
            if (!parent.isNull()) {
                record.set(ValueLayout.JAVA_SHORT, KvLayout.EVENT_FLAGS_AT, KvLayout.HAS_PARENT);
                record.set(ValueLayout.JAVA_LONG, KvLayout.EVENT_PARENT_AT, u64(parent));
            }
            for (int i = 0; i < n; i++) {
                long at = KvLayout.EVENT_SIZE + 8L * i;
                record.set(ValueLayout.JAVA_LONG, at, u64(blocks.get(i).get("block_hash")));
                record.set(
                        ValueLayout.JAVA_LONG, at + 8L * n, u64(blocks.get(i).get("tokens_hash")));
            }
        } else if (data.has("removed")) {
            JsonNode hashes = data.get("removed").get("block_hashes");
            record = record(arena, KvLayout.REMOVED, slot, hashes.size(), 8L * hashes.size());
            for (int i = 0; i < hashes.size(); i++) {
                record.set(ValueLayout.JAVA_LONG, KvLayout.EVENT_SIZE + 8L * i, u64(hashes.get(i)));
            }
        } else {
            assertEquals("cleared", data.asText());
            record = record(arena, KvLayout.CLEARED, slot, 0, 0);
            record.set(ValueLayout.JAVA_BYTE, KvLayout.EVENT_TIER_AT, (byte) KvLayout.ALL_TIERS);
        }
        Status.check(
                KvIndexLibrary.kvi_apply(
                        handle, record.address(), record.byteSize(), out.address()),
                "kvi_apply");
        assertEquals(
                1, out.get(ValueLayout.JAVA_LONG, KvLayout.APPLIED_APPLIED_AT), "taken: " + event);
    }

    private static MemorySegment record(Arena arena, int kind, int slot, int n, long payload) {
        MemorySegment record = arena.allocate(KvLayout.EVENT_SIZE + payload, 8);
        record.set(ValueLayout.JAVA_INT, KvLayout.EVENT_SIZE_AT, (int) record.byteSize());
        record.set(ValueLayout.JAVA_BYTE, KvLayout.EVENT_KIND_AT, (byte) kind);
        record.set(ValueLayout.JAVA_INT, KvLayout.EVENT_SLOT_AT, slot);
        record.set(ValueLayout.JAVA_INT, KvLayout.EVENT_N_AT, n);
        return record;
    }

    private static Map<String, Integer> match(
            long handle, long[] locals, Map<Long, Integer> slots, Arena arena) {
        MemorySegment in = arena.allocateFrom(ValueLayout.JAVA_LONG, locals);
        MemorySegment hits = arena.allocate(16L * KvLayout.HIT_SIZE, 8);
        MemorySegment count = arena.allocate(8, 8);
        Status.check(
                KvIndexLibrary.kvi_match_locals(
                        handle,
                        0,
                        in.address(),
                        locals.length,
                        hits.address(),
                        16,
                        count.address()),
                "kvi_match_locals");
        Map<String, Integer> depths = new TreeMap<>();
        for (int i = 0; i < count.get(ValueLayout.JAVA_INT, 0); i++) {
            long hit = (long) i * KvLayout.HIT_SIZE;
            int slot = hits.get(ValueLayout.JAVA_INT, hit + KvLayout.HIT_SLOT_AT);
            int depth = hits.get(ValueLayout.JAVA_INT, hit + KvLayout.HIT_DEPTH_AT);
            slots.forEach(
                    (w, s) -> depths.computeIfAbsent(w + "/0", k -> s == slot ? depth : null));
        }
        return depths;
    }

    private static long[] longs(MemorySegment segment, int count) {
        long[] values = new long[count];
        MemorySegment.copy(segment, ValueLayout.JAVA_LONG, 0, values, 0, count);
        return values;
    }

    private static long[] u64s(JsonNode list) {
        long[] values = new long[list.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = u64(list.get(i));
        }
        return values;
    }

    private static long u64(JsonNode node) {
        return Long.parseUnsignedLong(node.asText());
    }

    private static String textOf(JsonNode node) {
        return node.isNull() ? "" : node.asText();
    }

    private static JsonNode read(String name) throws IOException {
        try (InputStream in = VectorsTest.class.getResourceAsStream("/vectors/" + name)) {
            return new ObjectMapper().readTree(in);
        }
    }
}
