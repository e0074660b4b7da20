package io.warmpath.tokens.jinja;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/** Against texts of real Jinja2 (src/test/python/templates/make_golden.py). */
class TemplateGoldenTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String NOW = "2026-01-31T12:34:56";

    static {
        JSON.getFactory()
                .setStreamReadConstraints(
                        StreamReadConstraints.builder().maxNumberLength(5000).build());
    }

    /** What came out: a text, or the kind of failure and its words. */
    private record Outcome(String text, String kind, String words) {}

    @Test
    void templates_of_the_model_families_render_what_jinja_renders() throws IOException {
        JsonNode golden = read("families.json.gz");
        JsonNode chats = golden.get("chats");
        assertTrue(chats.size() >= 60, "only " + chats.size() + " chats");
        assertTrue(golden.get("answers").size() >= 40, "too few templates");
        List<String> different = new ArrayList<>();
        int texts = 0;
        for (Map.Entry<String, JsonNode> family : golden.get("answers").properties()) {
            Template template = Template.compile(source(family.getKey()));
            for (int i = 0; i < chats.size(); i++) {
                JsonNode want = family.getValue().get(i);
                Outcome got = render(template, chats.get(i));
                if (!same(want, got)) {
                    String chat = chats.get(i).get("name").asText();
                    different.add(family.getKey() + ", " + chat + "\n" + want + "\n" + got);
                }
                texts += want.has("text") ? 1 : 0;
            }
        }
        assertTrue(texts > 2500, "only " + texts + " texts");
        assertEquals(List.of(), different);
    }

    @Test
    void random_templates_render_what_jinja_renders_or_are_refused() throws IOException {
        int refused = 0;
        List<String> different = new ArrayList<>();
        JsonNode cases = read("random.json.gz");
        for (JsonNode one : cases) {
            Outcome got = renderLine(one.get("line"));
            boolean unknown = got.kind.equals("UNSUPPORTED") || got.words.contains(" named ");
            if (one.get("answer").has("text") && unknown) {
                refused++;
            } else if (!same(one.get("answer"), got)) {
                different.add("seed " + one.get("seed") + "\n" + one.get("answer") + "\n" + got);
            }
        }
        assertTrue(cases.size() > 900, "only " + cases.size() + " cases");
        assertEquals(List.of(), different);
        assertTrue(refused < cases.size() / 50, refused + " of " + cases.size() + " are refused");
    }

    private static boolean same(JsonNode want, Outcome got) {
        if (want.has("text")) {
            return want.get("text").asText().equals(got.text) && got.kind.isEmpty();
        }
        boolean raised = want.get("kind").asText().equals("RAISED");
        if (got.kind.equals("RAISED")) {
            return raised && want.get("error").asText().equals(got.words);
        }
        // The words of other failures are our own. A failure that comes first may differ.
        return !got.kind.isEmpty() && (!raised || got.kind.equals("UNSUPPORTED"));
    }

    private static Outcome renderLine(JsonNode line) {
        try {
            return render(Template.compile(line.get("template").asText()), line);
        } catch (TemplateException e) {
            return failure(e);
        }
    }

    private static Outcome render(Template template, JsonNode line) {
        Map<String, String> specials = new HashMap<>();
        JsonNode tokens = line.get("special_tokens");
        if (tokens == null) {
            specials.put("bos_token", "<s>");
            specials.put("eos_token", "</s>");
        } else {
            tokens.properties().forEach(e -> specials.put(e.getKey(), e.getValue().asText()));
        }
        Clock clock =
                Clock.fixed(
                        LocalDateTime.parse(line.path("now").asText(NOW)).toInstant(ZoneOffset.UTC),
                        ZoneOffset.UTC);
        HuggingFaceChat chat =
                new HuggingFaceChat(
                        list(line, "messages"),
                        line.hasNonNull("tools") ? list(line, "tools") : null,
                        line.hasNonNull("documents") ? list(line, "documents") : null,
                        line.path("add_generation_prompt").asBoolean(),
                        line.path("continue_final_message").asBoolean(),
                        arguments(line));
        try {
            String text = chat.render(template, specials, RenderLimits.DEFAULT, clock);
            return new Outcome(text, "", "");
        } catch (TemplateException e) {
            return failure(e);
        }
    }

    private static Outcome failure(TemplateException e) {
        return new Outcome("", e.kind().toString(), Objects.requireNonNull(e.getMessage()));
    }

    private static List<?> list(JsonNode line, String member) {
        return JSON.convertValue(line.get(member), List.class);
    }

    private static Map<String, Object> arguments(JsonNode line) {
        Map<String, Object> arguments = new HashMap<>();
        line.path("chat_template_kwargs")
                .properties()
                .forEach(
                        e ->
                                arguments.put(
                                        e.getKey(), JSON.convertValue(e.getValue(), Object.class)));
        return arguments;
    }

    private static String source(String family) throws IOException {
        try (InputStream in = resource("families/" + family + ".jinja")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static JsonNode read(String name) throws IOException {
        try (InputStream in = new GZIPInputStream(resource(name))) {
            return JSON.readTree(in);
        }
    }

    private static InputStream resource(String name) {
        return Objects.requireNonNull(
                TemplateGoldenTest.class.getResourceAsStream("/templates/" + name), name);
    }
}
