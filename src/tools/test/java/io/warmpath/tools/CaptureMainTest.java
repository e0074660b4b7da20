package io.warmpath.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CaptureMainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir Path folder;

    private int run(String... args) {
        return CaptureMain.run(
                args,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private List<String> outLines() {
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private static String capture(String name) throws Exception {
        URL url =
                Objects.requireNonNull(
                        CaptureMainTest.class.getResource("/captures/" + name + ".jsonl"));
        return Path.of(url.toURI()).toString();
    }

    @Test
    void each_request_has_a_line_and_the_last_line_counts() throws Exception {
        assertEquals(0, run("--index=java", capture("sglang-0.5.23-session-dp2-p16")));
        assertEquals("7 equal, 0 different", outLines().getLast());
        assertTrue(
                outLines().stream()
                        .anyMatch(
                                l ->
                                        l.matches(
                                                "r0003 +0 +70 +64 +64 +64\\+0\\+0\\+0 +same ids,"
                                                        + " rank 0 again")),
                out.toString(StandardCharsets.UTF_8));
        assertEquals("", err());
    }

    @Test
    void several_files_are_counted_together_with_their_causes() throws Exception {
        assertEquals(
                0,
                run(
                        "--index",
                        "java",
                        capture("sglang-0.5.23-mooncake-p64"),
                        capture("vllm-0.32.0-dp2-bytes-b64")));
        assertEquals("63 equal, 8 different", outLines().getLast());
        String text = out.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains("pool hit (storage)"), text);
    }

    @Test
    void an_unexplained_difference_is_told_by_the_exit_code() throws Exception {
        String good = Files.readString(Path.of(capture("sglang-0.5.23-session-dp2-p16")));
        assertTrue(good.contains("\"cached_tokens\":64"));
        Path wrong = folder.resolve("wrong.jsonl");
        Files.writeString(wrong, good.replaceFirst("\"cached_tokens\":64", "\"cached_tokens\":48"));
        assertEquals(1, run("--index=java", wrong.toString()));
        assertTrue(out.toString(StandardCharsets.UTF_8).contains("<- unexplained"));
        assertEquals("6 equal, 1 different", outLines().getLast());
    }

    @Test
    void help_is_printed_and_is_no_error() {
        assertEquals(0, run("--help"));
        assertTrue(outLines().getFirst().startsWith("Usage: ./warmpath capture"));
    }

    @Test
    void bad_usage_says_what_is_wrong_and_where_to_look() {
        assertEquals(2, run());
        assertTrue(err().contains("no file given"), err());
        err.reset();
        assertEquals(2, run("--fast", "x"));
        assertTrue(err().contains("unknown option --fast"), err());
        err.reset();
        assertEquals(2, run("--index", "rust", "x"));
        assertTrue(err().contains("native or java"), err());
        err.reset();
        assertEquals(2, run("--index"));
        assertTrue(err().contains("native or java"), err());
    }

    @Test
    void a_file_that_is_missing_or_no_capture_is_named_with_its_line() throws IOException {
        Path missing = folder.resolve("missing.jsonl");
        assertEquals(2, run("--index=java", missing.toString()));
        assertTrue(err().contains("missing.jsonl: no such file"), err());
        err.reset();

        Path text = Files.writeString(folder.resolve("text.jsonl"), "{\"k\":\"meta\"}\nhello\n");
        assertEquals(2, run("--index=java", text.toString()));
        assertTrue(err().contains("text.jsonl:2: not a JSON object"), err());
        err.reset();

        Path empty = Files.writeString(folder.resolve("empty.jsonl"), "");
        assertEquals(2, run("--index=java", empty.toString()));
        assertTrue(err().contains("no line of kind \"meta\""), err());
        err.reset();

        Path size = Files.writeString(folder.resolve("size.jsonl"), "{\"k\":\"meta\"}\n");
        assertEquals(2, run("--index=java", size.toString()));
        assertTrue(err().contains("block_size"), err());
        err.reset();

        Path hex =
                Files.writeString(
                        folder.resolve("hex.jsonl"),
                        "{\"k\":\"meta\",\"block_size\":4}\n{\"k\":\"event\",\"frames\":[\"zz\"]}\n");
        assertEquals(2, run("--index=java", hex.toString()));
        assertTrue(err().contains("hex.jsonl:2:"), err());
        err.reset();

        assertEquals(2, run("--index=java", folder.toString()));
        assertTrue(err().contains(folder.toString()), err());
    }
}
