package io.warmpath.tokens.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.tokens.jinja.RenderLimits;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.jinja.TemplateException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Conversations with thoughts, against the prompts that the engines' own code makes of them
 * (src/test/python/templates/make_thinking.py).
 */
class ThinkingPromptsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path TEMPLATES = Path.of("src/test/resources/templates");

    @Test
    void the_prompt_of_each_conversation_is_what_the_engine_makes_of_it() throws IOException {
        Path templates = Path.of(System.getProperty("thinking.templates", TEMPLATES.toString()));
        Path prompts =
                Path.of(System.getProperty("thinking.prompts", TEMPLATES + "/thinking.json.gz"));
        JsonNode golden;
        try (InputStream in = new GZIPInputStream(Files.newInputStream(prompts))) {
            golden = JSON.readTree(in);
        }
        JsonNode chats = golden.get("chats");
        List<String> different = new ArrayList<>();
        int texts = 0;
        for (Map.Entry<String, JsonNode> of : golden.get("templates").properties()) {
            String source = Files.readString(templates.resolve(of.getKey()));
            for (EngineProfile engine : List.of(EngineProfile.VLLM, EngineProfile.SGLANG)) {
                String name = engine == EngineProfile.VLLM ? "vllm" : "sglang";
                for (int i = 0; i < chats.size(); i++) {
                    JsonNode want = of.getValue().get(name).get(i);
                    String got = render(engine, source, chats.get(i));
                    boolean same =
                            want.has("text")
                                    ? got.equals(want.get("text").textValue())
                                    : got.startsWith("refused");
                    texts += want.has("text") ? 1 : 0;
                    if (!same) {
                        String chat = chats.get(i).get("name").asText();
                        String what = of.getKey() + ", " + name + ", " + chat;
                        different.add(String.join("\n", what, want.toString(), got));
                    }
                }
            }
        }
        assertEquals("", String.join("\n\n", different), different.size() + " differ");
        assertTrue(texts > 300, "only " + texts + " texts");
    }

    /** Of the engines themselves, recorded by {@code src/test/engines/record.py thinking}. */
    @ParameterizedTest
    @CsvSource({"VLLM,vllm-0.32.0-thinking-b32", "SGLANG,sglang-0.5.23-thinking-p16"})
    void the_prompts_that_engines_reported_are_made_here_too(EngineProfile engine, String capture)
            throws IOException {
        String source = Files.readString(TEMPLATES.resolve("families/qwen3-thinking.jinja"));
        Map<String, JsonNode> asked = new HashMap<>();
        int chats = 0;
        Path file = Path.of("src/test/resources/captures/" + capture + ".jsonl");
        for (String text : Files.readAllLines(file)) {
            JsonNode line = JSON.readTree(text);
            if (line.path("path").asText().equals("/v1/chat/completions")) {
                asked.put(line.get("id").asText(), line);
            } else if (line.has("prompt_text")) {
                JsonNode request = asked.get(line.get("id").asText());
                assertEquals(
                        line.get("prompt_text").asText(),
                        render(engine, source, request.get("body")),
                        request.get("step").asText());
                chats++;
            }
        }
        assertEquals(11, chats);
    }

    private static String render(EngineProfile engine, String source, JsonNode chat) {
        try {
            EnginePrompt prompt =
                    engine.render(
                            Chats.exactly(chat.toString()),
                            Template.compile(source),
                            Map.of("bos_token", "<s>", "eos_token", "</s>"),
                            RenderLimits.DEFAULT,
                            Clock.fixed(Instant.parse("2026-01-31T12:34:56Z"), ZoneOffset.UTC));
            return prompt instanceof EnginePrompt.Text text ? text.whole() : "refused: " + prompt;
        } catch (TemplateException e) {
            return "refused: " + e.getMessage();
        }
    }
}
