package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RenderMainTest {
    private static final String CHAT =
            "\"messages\": [{\"role\": \"user\", \"content\": \"Grüße\"}]";
    @TempDir Path dir;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String input, String... args) {
        return RenderMain.run(
                args,
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private String answers() {
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void each_line_gets_its_answer_in_order() {
        int code =
                run(
                        "{\"template\": \"{{ bos_token }}{{ messages[0].content }}{{ x }}{{"
                                + " strftime_now('%Y') }}\", \"special_tokens\": {\"bos_token\":"
                                + " \"<s>\"}, \"chat_template_kwargs\": {\"x\": [null, 1.0]},"
                                + " \"now\": \"2025-02-03T04:05:06\", "
                                + CHAT
                                + "}\n\n{\"template\": \"{% nosuch %}\", "
                                + CHAT
                                + "}\n{\"template\": \"{{ raise_exception('No!') }}\", "
                                + CHAT
                                + "}\n");
        assertEquals(0, code);
        String[] lines = answers().split("\n", -1);
        assertEquals("{\"text\":\"<s>Grüße[None, 1.0]2025\"}", lines[0]);
        assertTrue(lines[1].contains("\"error\":\"line 1: unknown tag 'nosuch'\""), lines[1]);
        assertTrue(lines[2].contains("\"error\":\"No!\""), lines[2]);
        assertEquals(4, lines.length);
    }

    @Test
    void what_a_line_lacks_is_named() {
        run("[1]\n{\"template\": \"a\"}\n{" + CHAT + "}\n{\"temlate\": \"a\", " + CHAT + "}\n");
        String[] lines = answers().split("\n", -1);
        assertTrue(lines[0].startsWith("{\"error\":\"not valid JSON"), lines[0]);
        assertEquals("{\"error\":\"messages must be a list\"}", lines[1]);
        assertEquals("{\"error\":\"template must be the Jinja source\"}", lines[2]);
        assertEquals("{\"error\":\"unknown members: temlate\"}", lines[3]);
    }

    @Test
    void a_mode_that_is_not_there_is_refused_and_not_ignored() {
        run("{\"mode\": \"vllm\", \"template\": \"a\", " + CHAT + "}\n");
        assertTrue(answers().startsWith("{\"error\":\"mode vllm is not known;"), answers());
    }

    @Test
    void files_are_read_one_after_the_other() throws Exception {
        Path one = Files.writeString(dir.resolve("1"), "{\"template\": \"a\", " + CHAT + "}");
        Path two = Files.writeString(dir.resolve("2"), "{\"template\": \"b\", " + CHAT + "}");
        assertEquals(0, run("", one.toString(), two.toString()));
        assertEquals("{\"text\":\"a\"}\n{\"text\":\"b\"}\n", answers());
        assertEquals(2, run("", dir.resolve("3").toString()));
        assertEquals(2, run("", "--nosuch"));
    }
}
