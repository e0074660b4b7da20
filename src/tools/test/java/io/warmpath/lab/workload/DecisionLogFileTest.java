package io.warmpath.lab.workload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DecisionLogFileTest {
    private static final Instant START = Instant.parse("2026-01-02T03:04:05Z");

    private static final double ALL = Double.POSITIVE_INFINITY;

    @TempDir Path folder;
    private final StringBuilder log = new StringBuilder();

    private void decided(int number, int millis, int prompt, String blocks, String more) {
        log.append(
                ("{\"number\":%d,\"time\":\"%s\",\"request_id\":\"r\",%s\"model\":\"m\","
                                + "\"decision\":{\"mode\":\"kv\",\"prompt_tokens\":%d,"
                                + "\"queued_ms\":0.0,\"chosen\":{\"worker\":\"a\",\"dp_rank\":0},"
                                + "\"candidates\":[{\"prompt_tokens\":1},{}]},"
                                + "\"block_tokens\":16,\"prompt_blocks\":\"%s\"}%n")
                        .formatted(number, START.plusMillis(millis), more, prompt, names(blocks)));
    }

    /** One digit of the test is one block. */
    private static String names(String blocks) {
        StringBuilder out = new StringBuilder();
        blocks.chars().forEach(c -> out.append("0000000").append((char) c));
        return out.toString();
    }

    private void ended(int number, int millis, int status, int output, int cached) {
        log.append(
                ("{\"ended\":%d,\"time\":\"%s\",\"status\":%d,\"prompt_tokens\":1,"
                                + "\"output_tokens\":%d,\"cached_tokens\":%d,\"total_ms\":1.0}%n")
                        .formatted(number, START.plusMillis(millis), status, output, cached));
    }

    private Recorded read(boolean closed) throws IOException {
        return DecisionLogFile.read(Files.writeString(folder.resolve("log"), log), "", ALL, closed);
    }

    private String refusal() {
        return assertThrows(IllegalArgumentException.class, () -> read(false)).getMessage();
    }

    @Test
    void a_request_is_its_arrival_its_prompt_and_its_answer() throws IOException {
        decided(0, 0, 40, "12", "");
        decided(1, 50, 40, "13", "");
        ended(1, 70, 200, 5, 16);
        ended(0, 80, 200, 7, 0);
        Recorded r = read(false);
        Workload w = r.workload();
        assertEquals(16, w.blockTokens());
        assertArrayEquals(new double[] {0, 50}, w.startMillis());
        assertArrayEquals(new int[] {40, 40}, w.prompt());
        assertArrayEquals(new int[] {7, 5}, w.answer());
        assertEquals(w.blocks()[0][0], w.blocks()[1][0]);
        assertTrue(w.blocks()[0][1] != w.blocks()[1][1]);
        assertEquals(0.4, r.hitRate(), 1e-9); // the second alone comes after the first quarter
        assertEquals(2, r.engines());
        assertEquals(List.of(), r.notes());
    }

    @Test
    void a_request_waits_for_the_one_that_it_continues_and_gives_its_answer_blocks()
            throws IOException {
        decided(0, 0, 40, "12", "");
        ended(0, 100, 200, 20, 0);
        decided(1, 400, 64, "1234", ""); // 40 + 20 and more: block 3 is prompt and answer
        decided(2, 410, 64, "1256", ""); // shares the same, but the first is continued already
        ended(1, 500, 200, 1, 32);
        ended(2, 510, 200, 1, 32);
        Workload w = read(true).workload();
        assertArrayEquals(new int[] {0, 1, 0}, w.dependencies());
        assertArrayEquals(new int[] {1}, w.dependents()[0]);
        assertEquals(300, w.pauseMillis()[1]);
        assertArrayEquals(new int[] {0, 1, 2}, w.blocks()[0]);
        assertArrayEquals(new int[] {1, 1, 3}, w.session());
        assertArrayEquals(new int[] {0, 0, 0}, read(false).workload().dependencies());
    }

    @Test
    void a_system_prompt_alone_makes_no_conversation_and_a_named_session_does() throws IOException {
        decided(0, 0, 40, "12", "");
        ended(0, 10, 200, 2, 0);
        decided(1, 100, 40, "13", ""); // shares 1, which is not where the first ended
        ended(1, 110, 200, 2, 0);
        decided(2, 200, 33, "55", "\"session\":\"s\",");
        ended(2, 210, 200, 2, 0);
        decided(3, 300, 33, "66", "\"session\":\"s\",");
        decided(4, 301, 33, "77", "\"session\":\"s\","); // at the same time: waits for nobody
        assertArrayEquals(new int[] {0, 0, 0, 1, 0}, read(true).workload().dependencies());
    }

    @Test
    void a_line_cut_off_at_the_end_or_by_a_restart_is_left_out_and_told() throws IOException {
        decided(0, 0, 40, "12", "");
        log.append("{\"number\":1,\"time\":\"2026-01-0\n"); // killed, and started again
        decided(0, 900, 40, "12", "");
        ended(0, 950, 200, 9, 0);
        log.append("{\"number\":2,\"ti");
        Recorded r = read(false);
        assertEquals(2, r.workload().size());
        assertArrayEquals(new int[] {9, 9}, r.workload().answer());
        assertEquals(3, r.notes().size(), r.notes()::toString);
        assertEquals("line 2 was cut off when the gateway ended; left out", r.notes().get(0));
        assertEquals("the last line, 5, is not complete; left out", r.notes().get(1));
        assertTrue(r.notes().get(2).startsWith("1 answers of unknown length, played as 9 tokens"));
    }

    @Test
    void a_damaged_line_is_an_error_with_its_number() {
        decided(0, 0, 40, "12", "");
        log.append("{\"number\":1,\"time\":\"2026-01-0\n");
        decided(2, 900, 40, "12", "");
        assertTrue(refusal().contains("line 2 is not a line of a file of decisions"), refusal());
        log.setLength(0);
        decided(0, 0, 40, "12", "");
        log.append("{\"timestamp\":4}\n");
        assertTrue(refusal().contains("line 2"), refusal());
        assertTrue(refusal().contains("neither a decision nor the end of one"), refusal());
    }

    @Test
    void what_cannot_be_played_is_left_out_and_told() throws IOException {
        decided(0, 0, 40, "12", "");
        ended(0, 5, 0, -1, -1); // tried again elsewhere
        decided(1, 6, 40, "12", "");
        ended(1, 50, 200, 3, 0);
        decided(2, 60, 40, "", "");
        ended(2, 70, 200, 3, 0);
        decided(4, 80, 40, "12", "");
        ended(4, 90, 503, -1, -1);
        Recorded r = read(false);
        assertEquals(2, r.workload().size());
        assertEquals(0, r.workload().blocks()[1].length);
        assertTrue(r.notes().get(0).startsWith("1 decisions are missing"), r.notes()::toString);
        assertTrue(
                r.notes().get(1).startsWith("2 attempts without an answer"), r.notes()::toString);
        assertTrue(r.notes().get(2).startsWith("1 requests whose prompt's blocks are not named"));
    }

    @Test
    void a_request_that_was_split_is_one_request_and_both_roles_are_counted() throws IOException {
        decided(0, 0, 40, "12", "\"part\":\"prefill\",");
        decided(1, 0, 40, "12", "\"part\":\"decode\",");
        ended(0, 30, 200, 1, 16);
        ended(1, 80, 200, 7, 16);
        decided(2, 90, 40, "13", "");
        ended(2, 95, 200, 3, 16);
        Recorded r = read(false);
        assertArrayEquals(new int[] {7, 3}, r.workload().answer());
        assertEquals(4, r.engines(), "two for prompts and two for answers");
        assertEquals(List.of(), r.notes());
    }

    @Test
    void the_last_minutes_alone_can_be_read() throws IOException {
        for (int i = 0; i < 5; i++) {
            decided(i, 60_000 * i, 40, "12", "");
            ended(i, 60_000 * i + 10, 200, i + 1, 0);
        }
        Path file = Files.writeString(folder.resolve("log"), log);
        assertArrayEquals(
                new int[] {4, 5}, DecisionLogFile.read(file, "", 1.5, false).workload().answer());
    }

    @Test
    void models_are_told_apart_and_one_is_chosen() throws IOException {
        decided(0, 0, 40, "12", "");
        String first = log.toString();
        log.append(first.replace("\"model\":\"m\"", "\"model\":\"n\"").replace(":0,\"t", ":1,\"t"));
        assertTrue(refusal().contains("choose one with --of-model: m, n"), refusal());
        Path zipped = folder.resolve("log.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(zipped))) {
            out.write(log.toString().getBytes(StandardCharsets.UTF_8));
        }
        assertEquals(1, DecisionLogFile.read(zipped, "n", ALL, false).workload().size());
        assertThrows(
                IllegalArgumentException.class,
                () -> DecisionLogFile.read(zipped, "x", ALL, false));
    }
}
