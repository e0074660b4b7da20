package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.prefix.BlockTracker;
import io.warmpath.prefix.BlockTracker.Hashing;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The recorded scripts of the block cache tracker, through the native library. */
class BlockTrackerVectorsTest {
    private static final int CASES = 22;

    @TestFactory
    List<DynamicTest> every_step_answers_what_the_rules_say() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode script : read().get("scripts")) {
            tests.add(
                    DynamicTest.dynamicTest(
                            script.get("name").asText(), () -> new Script(script).run()));
        }
        assertEquals(CASES, tests.size());
        return tests;
    }

    /** Back ends are slots 0, 1, 2 in the order of their names. */
    private static final class Script {
        private final JsonNode script;
        private final int blockSize;
        private final Map<String, WorkerSlot> slots = new TreeMap<>();

        Script(JsonNode script) {
            this.script = script;
            this.blockSize = script.get("block_size").asInt();
            for (JsonNode step : script.get("steps")) {
                if (step.has("backend")) {
                    slots.put(step.get("backend").asText(), new WorkerSlot(0));
                }
            }
            int next = 0;
            for (Map.Entry<String, WorkerSlot> e : slots.entrySet()) {
                e.setValue(new WorkerSlot(next++));
            }
        }

        void run() {
            try (NativeBlockTracker tracker = tracker(blockSize, Hashing.POSITION)) {
                for (WorkerSlot slot : slots.values()) {
                    tracker.join(slot);
                }
                int number = 0;
                for (JsonNode step : script.get("steps")) {
                    run(tracker, step, "step " + number++);
                }
            }
        }

        private void run(NativeBlockTracker tracker, JsonNode step, String at) {
            JsonNode expect = step.get("expect");
            switch (step.get("do").asText()) {
                case "record" ->
                        assertEquals(
                                expect.get("new_blocks").asLong(),
                                tracker.record(backend(step), query(step.get("tokens"), blockSize)),
                                at);
                case "find" ->
                        found(tracker.find(query(step.get("tokens"), blockSize)), expect, at);
                case "evict" ->
                        assertEquals(
                                expect.get("evicted").asLong(),
                                tracker.evict(backend(step), step.get("max_blocks").asLong()),
                                at);
                case "remove" -> {
                    assertTrue(tracker.leave(backend(step)), at);
                    tracker.join(backend(step));
                }
                default -> throw new AssertionError(at);
            }
            long blocks = 0;
            for (JsonNode count : step.get("counts_after")) {
                blocks += count.asLong();
            }
            assertEquals(blocks, tracker.stats().blocks(), at);
        }

        private void found(PrefixMatch match, JsonNode expect, String at) {
            if (expect.isNull()) {
                assertEquals(0, match.size(), at);
                return;
            }
            assertEquals(expect.get("total").asInt(), match.blocks(), at);
            assertEquals(expect.get("per_backend").size(), match.size(), at);
            int best = 0;
            for (Map.Entry<String, JsonNode> e : expect.get("per_backend").properties()) {
                WorkerSlot slot = slots.get(e.getKey());
                assertEquals(e.getValue().get("binary").asInt(), match.depth(slot, Tier.GPU), at);
                assertEquals(match.depth(slot, Tier.GPU), match.depth(slot, Tier.EXTERNAL), at);
                best = Math.max(best, match.depth(slot, Tier.GPU));
            }
            assertEquals(expect.get("best").asInt(), best, at);
        }

        private WorkerSlot backend(JsonNode step) {
            return slots.get(step.get("backend").asText());
        }
    }

    /** Three of the scripts show where position hashes are wrong; there chained ones are not. */
    @Test
    void chained_hashes_never_find_more_than_the_back_end_shares() throws IOException {
        int wrong = 0;
        for (JsonNode script : read().get("scripts")) {
            Script s = new Script(script);
            try (NativeBlockTracker tracker = tracker(s.blockSize, Hashing.CHAINED)) {
                s.slots.values().forEach(tracker::join);
                for (JsonNode step : script.get("steps")) {
                    switch (step.get("do").asText()) {
                        case "record" ->
                                tracker.record(
                                        s.backend(step), query(step.get("tokens"), s.blockSize));
                        case "find" -> {
                            PrefixMatch match =
                                    tracker.find(query(step.get("tokens"), s.blockSize));
                            for (Map.Entry<String, JsonNode> e :
                                    step.path("expect").path("per_backend").properties()) {
                                int shared = e.getValue().get("true_prefix").asInt();
                                wrong += shared < e.getValue().get("binary").asInt() ? 1 : 0;
                                assertEquals(
                                        shared,
                                        match.depth(s.slots.get(e.getKey()), Tier.GPU),
                                        script.get("name").asText());
                            }
                        }
                        case "evict" ->
                                tracker.evict(s.backend(step), step.get("max_blocks").asLong());
                        case "remove" -> {
                            tracker.leave(s.backend(step));
                            tracker.join(s.backend(step));
                        }
                        default -> throw new AssertionError(step);
                    }
                }
            }
        }
        assertTrue(wrong >= 3, "the scripts no longer show the weakness of position hashes");
    }

    @Test
    void salts_are_kept_apart_and_late_records_are_ignored() {
        try (BlockTracker tracker = tracker(2, Hashing.POSITION)) {
            WorkerSlot slot = new WorkerSlot(3);
            tracker.join(slot);
            int[] tokens = {1, 2, 3, 4};
            PrefixQuery salted = new PrefixQuery(tokens, 4, 2, new PrefixSpace("", "tenant"));
            PrefixQuery plain = new PrefixQuery(tokens, 4, 2, PrefixSpace.NONE);
            assertEquals(2, tracker.record(slot, salted));
            assertEquals(0, tracker.find(plain).size());
            assertEquals(2, tracker.find(salted).depth(slot, Tier.GPU));
            assertTrue(tracker.leave(slot));
            assertEquals(0, tracker.record(slot, plain));
            assertEquals(BlockTracker.Stats.NONE, tracker.stats());
        }
    }

    @Test
    void prompts_of_another_block_size_and_calls_after_closing_are_refused() {
        BlockTracker tracker = tracker(2, Hashing.POSITION);
        PrefixQuery other = new PrefixQuery(new int[4], 4, 4, PrefixSpace.NONE);
        assertThrows(IllegalArgumentException.class, () -> tracker.find(other));
        assertThrows(
                IllegalArgumentException.class, () -> tracker.record(new WorkerSlot(0), other));
        tracker.close();
        tracker.close();
        assertEquals(
                "the block tracker is closed",
                assertThrows(IllegalStateException.class, tracker::evict).getMessage());
    }

    @Test
    void more_back_ends_than_the_first_buffer_holds_are_all_answered() {
        try (BlockTracker tracker = tracker(1, Hashing.CHAINED)) {
            PrefixQuery prompt = new PrefixQuery(new int[] {7, 8}, 2, 1, PrefixSpace.NONE);
            for (int i = 0; i < 1000; i++) {
                tracker.join(new WorkerSlot(i));
                tracker.record(new WorkerSlot(i), prompt);
            }
            PrefixMatch match = tracker.find(prompt);
            assertEquals(1000, match.size());
            assertEquals(999, match.slotAt(999));
            assertEquals(2, match.depth(new WorkerSlot(999), Tier.GPU));
        }
    }

    private static NativeBlockTracker tracker(int blockSize, Hashing hashing) {
        return new NativeBlockTracker(
                Optional.empty(),
                new BlockTracker.Options(
                        blockSize, hashing, BlockTracker.Options.DEFAULT_MAX_BLOCKS));
    }

    private static PrefixQuery query(JsonNode tokens, int blockSize) {
        int[] ids = new int[tokens.size()];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = (int) tokens.get(i).asLong();
        }
        return new PrefixQuery(ids, ids.length, blockSize, PrefixSpace.NONE);
    }

    private static JsonNode read() throws IOException {
        try (InputStream in =
                BlockTrackerVectorsTest.class.getResourceAsStream(
                        "/vectors/vllm-block-tracker.json")) {
            return new ObjectMapper().readTree(in);
        }
    }
}
