package io.warmpath.upstream.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scanner against the recorded and hand-made streams, and against a slow reading of them. */
class AnswerScannerTest {
    record Case(String name, List<byte[]> reads, JsonNode expect) {
        byte[] all() {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            reads.forEach(out::writeBytes);
            return out.toByteArray();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static List<Case> vectors() throws IOException {
        List<Case> cases = new ArrayList<>();
        try (InputStream in = open("vectors/openai-sse.json")) {
            for (JsonNode c : new ObjectMapper().readTree(in).path("cases")) {
                List<byte[]> reads = new ArrayList<>();
                c.path("reads").forEach(r -> reads.add(HexFormat.of().parseHex(r.asText())));
                cases.add(new Case(c.path("name").asText(), reads, c.path("expect")));
            }
        }
        assertTrue(cases.size() > 50, "the vectors are there");
        return cases;
    }

    static Stream<String> recordings() {
        return Stream.of(
                "sglang-chat-stream.txt",
                "sglang-completion-stream.txt",
                "sglang-generate-stream.txt",
                "vllm-chat-stream-ids.txt",
                "vllm-chat-stream.txt",
                "vllm-completion-stream.txt");
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void a_vector_read_as_recorded_gives_what_it_expects(Case c) {
        AnswerScanner s = AnswerScanner.ofEvents();
        for (byte[] read : c.reads()) {
            scan(s, read);
        }
        JsonNode e = c.expect();
        assertEquals(e.path("events").size(), s.events(), "events");
        assertEquals(e.path("comment_lines").asInt(), s.comments(), "comments");
        assertEquals(e.path("done").asBoolean(), s.done(), "done");
        assertEquals(e.path("first_token_event").asInt(-1), s.firstTokenEvent(), "first token");
        assertEquals(!e.path("finish").isEmpty(), s.finished(), "finished");
        JsonNode usage = e.path("usage");
        assertEquals(usage.path("prompt_tokens").asLong(-1), s.promptTokens(), "prompt tokens");
        assertEquals(usage.path("completion_tokens").asLong(-1), s.completionTokens());
        assertEquals(usage.path("cached_tokens").asLong(-1), s.cachedTokens(), "cached tokens");
        int notJson = 0;
        for (JsonNode error : e.path("errors")) {
            notJson += error.asText().equals("not JSON") ? 1 : 0;
        }
        assertEquals(notJson, s.malformed(), "malformed");
        assertEquals(e.path("errors").size() - notJson, s.errors(), "errors");
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void a_vector_cut_anywhere_gives_the_same(Case c) {
        byte[] all = c.all();
        SlowSse slow = SlowSse.read(all);
        int step = Math.max(1, all.length / 3000);
        for (int cut = 0; cut <= all.length; cut += step) {
            AnswerScanner s = AnswerScanner.ofEvents();
            s.scan(all, 0, cut);
            s.scan(all, cut, all.length - cut);
            assertEquals(slow.summary(), SlowSse.summary(s), "cut at " + cut);
        }
        cutAtRandom(all, slow, c.name().hashCode());
    }

    @ParameterizedTest
    @MethodSource("recordings")
    void a_recorded_stream_cut_anywhere_gives_the_same(String file) throws IOException {
        byte[] all = read("captures/http/" + file);
        SlowSse slow = SlowSse.read(all);
        assertTrue(slow.done, "the recording is whole");
        assertTrue(slow.firstToken >= 0, "the recording has a token");
        for (int cut = 0; cut <= all.length; cut++) {
            AnswerScanner s = AnswerScanner.ofEvents();
            s.scan(all, 0, cut);
            s.scan(all, cut, all.length - cut);
            assertEquals(slow.summary(), SlowSse.summary(s), "cut at " + cut);
        }
        cutAtRandom(all, slow, 1);
    }

    @Test
    void the_usage_of_recorded_streams_is_found() throws IOException {
        AnswerScanner s = AnswerScanner.ofEvents();
        scan(s, read("captures/http/vllm-chat-stream.txt"));
        assertEquals(15, s.promptTokens());
        assertEquals(4, s.completionTokens());
        assertEquals(0, s.cachedTokens());
        assertEquals(1, s.firstTokenEvent(), "the role chunk is no token");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sglang-chat.json", "vllm-chat.json"})
    void the_usage_of_an_answer_that_is_not_streamed_is_found_at_every_cut(String file)
            throws IOException {
        byte[] all = read("captures/http/" + file);
        for (int cut = 0; cut <= all.length; cut++) {
            AnswerScanner s = AnswerScanner.ofJson();
            assertEquals(cut, s.scan(all, 0, cut));
            s.scan(all, cut, all.length - cut);
            assertEquals(15, s.promptTokens(), "cut at " + cut);
            assertEquals(4, s.completionTokens());
            assertEquals(0, s.cachedTokens());
        }
    }

    @Test
    void random_damage_never_makes_the_scanner_disagree_about_lines() throws IOException {
        // Damaged JSON may be judged differently (the scanner is no validator); events, comments
        // and boundaries may not.
        List<Case> cases = vectors();
        long seed = 20261121;
        Random random = new Random(seed);
        for (int round = 0; round < 3000; round++) {
            byte[] all = cases.get(random.nextInt(cases.size())).all().clone();
            for (int i = 0; all.length > 0 && i < 1 + random.nextInt(4); i++) {
                byte[] from = ": \r\n{}[]\"\\,adtev".getBytes(StandardCharsets.US_ASCII);
                all[random.nextInt(all.length)] = from[random.nextInt(from.length)];
            }
            SlowSse slow = SlowSse.read(all);
            AnswerScanner s = AnswerScanner.ofEvents();
            List<Integer> ends = feed(s, all, random);
            String where = "seed " + seed + ", round " + round;
            assertEquals(slow.comments, s.comments(), where);
            assertEquals(slow.events, s.events(), where);
            Set<Integer> allowed = new HashSet<>(slow.boundaries);
            for (int end : ends) {
                assertTrue(allowed.contains(end), where + ": " + end + " is inside an event");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void what_counts_as_complete_always_ends_between_two_events(Case c) {
        byte[] all = c.all();
        SlowSse slow = SlowSse.read(all);
        Set<Integer> allowed = new HashSet<>(slow.boundaries);
        Random random = new Random(c.name().hashCode());
        for (int round = 0; round < 20; round++) {
            List<Integer> ends = feed(AnswerScanner.ofEvents(), all, random);
            for (int end : ends) {
                assertTrue(allowed.contains(end), end + " is inside an event, round " + round);
            }
            int last = slow.boundaries.get(slow.boundaries.size() - 1);
            int reached = ends.isEmpty() ? 0 : ends.get(ends.size() - 1);
            // Everything complete has been passed on, save a line feed that belongs to a CR.
            assertTrue(last - reached <= 3, "held back " + reached + " of " + last);
        }
    }

    @Test
    void a_token_counts_when_its_event_is_complete_not_before() {
        AnswerScanner s = AnswerScanner.ofEvents();
        assertEquals(0, scan(s, "data: {\"choices\":[{\"text\":\"x\"}]}\n"));
        assertFalse(s.sawToken());
        assertEquals(1, scan(s, "\n"));
        assertTrue(s.sawToken());
    }

    @Test
    void every_form_of_output_is_a_token_and_its_empty_form_is_not() {
        String[] values = {
            "{\"delta\":{\"content\":%s}}|\"a\"|\"\"",
            "{\"delta\":{\"content\":%s}}|\"\\u0000\"|null",
            "{\"delta\":{\"reasoning\":%s}}|\"a\"|\"\"",
            "{\"delta\":{\"reasoning_content\":%s}}|\"a\"|null",
            "{\"delta\":{\"tool_calls\":%s}}|[{\"index\":0}]|[]",
            "{\"delta\":{\"function_call\":%s}}|{\"name\":\"f\"}|{}",
            "{\"delta\":{\"refusal\":%s}}|\"no\"|\"\"",
            "{\"delta\":{\"x\":{\"content\":\"b\"},\"content\":%s}}|\"a\"|\"\"",
            "{\"text\":%s}|\"a\"|\"\"",
            "{\"token_ids\":%s}|[ 7 ]|[ ]",
            "{\"message\":{\"content\":%s}}|\"a\"|\"\"",
        };
        for (String v : values) {
            String[] parts = v.split("\\|", 3);
            for (int i = 1; i <= 2; i++) {
                AnswerScanner s = AnswerScanner.ofEvents();
                String event = String.format(parts[0], parts[i]);
                scan(s, "data: {\"choices\":[" + event + "]}\n\n");
                assertEquals(0, s.malformed(), event);
                assertEquals(i == 1, s.sawToken(), event);
            }
        }
    }

    private static void cutAtRandom(byte[] all, SlowSse slow, long seed) {
        Random random = new Random(seed);
        for (int round = 0; round < 30; round++) {
            AnswerScanner s = AnswerScanner.ofEvents();
            feed(s, all, random);
            assertEquals(slow.summary(), SlowSse.summary(s), "seed " + seed + ", round " + round);
        }
    }

    /** Feeds in random pieces; returns the offsets up to which events were complete. */
    private static List<Integer> feed(AnswerScanner s, byte[] all, Random random) {
        List<Integer> ends = new ArrayList<>();
        int most = 1 + random.nextInt(200);
        for (int p = 0; p < all.length; ) {
            int n = Math.min(all.length - p, 1 + random.nextInt(most));
            int complete = s.scan(all, p, n);
            if (complete > 0) {
                ends.add(p + complete);
            }
            p += n;
        }
        return ends;
    }

    private static byte[] read(String resource) throws IOException {
        try (InputStream in = open(resource)) {
            return in.readAllBytes();
        }
    }

    private static InputStream open(String resource) {
        InputStream in = AnswerScannerTest.class.getClassLoader().getResourceAsStream(resource);
        assertTrue(in != null, resource + " is missing");
        return in;
    }

    private static int scan(AnswerScanner scanner, String text) {
        return scan(scanner, text.getBytes(StandardCharsets.UTF_8));
    }

    private static int scan(AnswerScanner scanner, byte[] bytes) {
        return scanner.scan(bytes, 0, bytes.length);
    }
}
