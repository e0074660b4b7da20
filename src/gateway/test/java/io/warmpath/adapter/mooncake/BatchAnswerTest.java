package io.warmpath.adapter.mooncake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.TestVectors;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The bodies that a real master sent, and what is no such body. */
class BatchAnswerTest {
    private static final JsonNode RECORDED = TestVectors.file("vectors/mooncake-http.json");

    private static BitSet held(String body, List<String> keys) throws IOException {
        return BatchAnswer.held(body.getBytes(StandardCharsets.UTF_8), keys);
    }

    @TestFactory
    List<DynamicTest> every_recorded_look_up_is_read_as_it_says() {
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode one : RECORDED.path("exchanges")) {
            if (one.path("target").asText().startsWith("/batch_query_keys")
                    && one.path("status").asInt() == 200) {
                tests.add(DynamicTest.dynamicTest(one.path("name").asText(), () -> read(one)));
            }
        }
        assertTrue(tests.size() > 30, "only " + tests.size());
        return tests;
    }

    private static void read(JsonNode one) throws IOException {
        String body = one.path("body").asText();
        List<String> keys = new ArrayList<>();
        BitSet expected = new BitSet();
        TestVectors.json(body)
                .path("data")
                .properties()
                .forEach(
                        entry -> {
                            expected.set(keys.size(), entry.getValue().path("ok").booleanValue());
                            keys.add(entry.getKey());
                        });
        assertTrue(!keys.isEmpty());
        assertEquals(expected, held(body, keys));
        List<String> more = new ArrayList<>(keys);
        more.add("a key that is not answered");
        assertThrows(IOException.class, () -> held(body, more));
    }

    @Test
    void keys_on_disks_are_held_and_keys_being_written_are_not() throws IOException {
        String nulls =
                "\"values\":%s,\"disk_values\":%s,\"local_disk_values\":%s,\"nof_values\":null}";
        String body =
                "{\"success\":true,\"data\":{"
                        + "\"a\":{\"ok\":true,\"error\":null,"
                        + nulls.formatted(
                                "[]", "[{\"file_path\":\"/x\",\"object_size\":1}]", "null")
                        + ",\"b\":{\"ok\":false,\"error\":\"REPLICA_IS_NOT_READY\","
                        + nulls.formatted("null", "null", "null")
                        + ",\"c\":{\"ok\":true,\"error\":null,"
                        + nulls.formatted("[]", "null", "[{\"client_id\":\"1-2\"}]")
                        + ",\"d\":{\"ok\":true},\"e\":{\"ok\":null},\"f\":{},\"g\":null,\"h\":[]"
                        + "}}";
        BitSet held = held(body, List.of("a", "b", "c", "d", "e", "f", "g", "h", "a"));
        BitSet expected = new BitSet();
        expected.set(0);
        expected.set(2, 4);
        expected.set(8);
        assertEquals(expected, held);
    }

    @Test
    void what_is_no_answer_is_refused_with_what_is_wrong() {
        for (String body :
                List.of(
                        "",
                        "[]",
                        "null",
                        "404 Not Found",
                        "{",
                        "{\"success\":true}",
                        "{\"success\":true,\"data\":null}",
                        "{\"success\":true,\"data\":{}}",
                        "{\"data\":{\"k\":{\"ok\":true}}}",
                        "{\"success\":false,\"data\":{\"k\":{\"ok\":true}}}",
                        "{\"success\":true,\"data\":{\"k\":{\"ok\":true}",
                        "{\"success\":true,\"data\":{\"k\":{\"ok\":true},")) {
            assertThrows(IOException.class, () -> held(body, List.of("k")), body);
        }
    }

    @Test
    void no_damage_to_a_body_makes_a_key_held_that_is_not() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String body =
                "{\"success\":true,\"data\":{\"k\":{\"ok\":false,\"error\":\"OBJECT_NOT_FOUND\","
                        + "\"values\":null}}}";
        for (int cut = 0; cut < body.length(); cut++) {
            String part = body.substring(0, cut);
            assertThrows(IOException.class, () -> held(part, List.of("k")), part);
        }
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            try {
                assertTrue(
                        BatchAnswer.held(bytes, List.of("k")).isEmpty(),
                        () -> "seed " + seed + ": " + new String(bytes, StandardCharsets.UTF_8));
            } catch (IOException e) {
                assertTrue(e.getMessage() != null);
            }
        }
    }
}
