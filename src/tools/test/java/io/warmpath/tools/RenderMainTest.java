package io.warmpath.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.adapter.tokenizer.DemoModel;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RenderMainTest {
    private static final String CHAT =
            "\"messages\": [{\"role\": \"user\", \"content\": \"Grüße\"}]";
    private static final ObjectMapper JSON = new ObjectMapper();
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
        run("{\"mode\": \"tgi\", \"template\": \"a\", " + CHAT + "}\n");
        assertTrue(answers().startsWith("{\"error\":\"mode tgi is not known;"), answers());
    }

    /** Each row of what engines do to chats, for each engine; written by hand, not recorded. */
    @Test
    void each_engine_changes_chats_in_its_own_way() throws Exception {
        List<String> golden =
                new BufferedReader(
                                new InputStreamReader(
                                        Objects.requireNonNull(
                                                RenderMainTest.class.getResourceAsStream(
                                                        "/templates/engines.jsonl")),
                                        StandardCharsets.UTF_8))
                        .lines()
                        .toList();
        StringBuilder lines = new StringBuilder();
        for (String row : golden) {
            lines.append(JSON.readTree(row).get("line")).append('\n');
        }
        assertEquals(0, run(lines.toString()));
        String[] answers = answers().split("\n", -1);
        List<String> different = new ArrayList<>();
        for (int i = 0; i < golden.size(); i++) {
            JsonNode row = JSON.readTree(golden.get(i));
            if (!row.get("want").equals(JSON.readTree(answers[i]))) {
                different.add(row + "\n" + answers[i]);
            }
        }
        assertTrue(golden.size() >= 50, "only " + golden.size() + " rows");
        assertEquals(List.of(), different);
    }

    @Test
    void with_a_model_the_tokens_come_too_and_the_template_is_its_own() {
        String model = DemoModel.directory().toString();
        assertEquals(0, run("{" + CHAT + ", \"mode\": \"vllm\"}\n", "--model", model));
        assertTrue(
                answers()
                        .startsWith(
                                "{\"text\":\"<|im_start|>user\\nGrüße<|im_end|>\\n<|im_start|>"
                                        + "assistant\\n\",\"tokens\":["),
                answers());
    }

    @Test
    void a_message_to_go_on_with_is_tokenised_as_the_engine_does() throws Exception {
        String open =
                "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\":"
                        + " \"assistant\", \"content\": \"b c\"}], \"continue_final_message\":"
                        + " true, \"add_generation_prompt\": false, \"mode\": \"%s\"}\n";
        String whole = "{\"template\": \"%s\", " + CHAT + "}\n";
        String user = "<|im_start|>user\\na<|im_end|>\\n<|im_start|>assistant\\n";
        run(
                open.formatted("vllm")
                        + whole.formatted(user + "b c")
                        + open.formatted("sglang")
                        + whole.formatted(user + "{{ '' }}")
                        + whole.formatted("b c"),
                "--model",
                DemoModel.directory().toString());
        List<JsonNode> answers = new ArrayList<>();
        for (String line : answers().strip().split("\n", -1)) {
            answers.add(JSON.readTree(line));
        }
        assertEquals(answers.get(1), answers.get(0));
        assertEquals(answers.get(1).get("text"), answers.get(2).get("text"));
        List<JsonNode> joined = new ArrayList<>();
        answers.get(3).get("tokens").forEach(joined::add);
        answers.get(4).get("tokens").forEach(joined::add);
        List<JsonNode> got = new ArrayList<>();
        answers.get(2).get("tokens").forEach(got::add);
        assertEquals(joined, got);
    }

    @Test
    void a_model_that_cannot_be_loaded_is_bad_usage() {
        assertEquals(2, run("", "--model", dir.toString()));
        assertEquals(2, run("", "--model"));
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
