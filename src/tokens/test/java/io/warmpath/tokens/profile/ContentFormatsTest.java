package io.warmpath.tokens.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.jinja.TemplateException;
import io.warmpath.tokens.jinja.TemplateFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Whether a template gets texts or lists of parts, against the verdicts of the engines' own code
 * (src/test/python/templates/make_content_formats.py).
 */
class ContentFormatsTest {
    private static final Path TEMPLATES = Path.of("src/test/resources/templates");

    @Test
    void each_template_gets_contents_in_the_form_that_the_engine_finds_out() throws IOException {
        ObjectMapper json = new ObjectMapper();
        List<String> different = new ArrayList<>();
        List<String> refused = new ArrayList<>();
        int parts = 0;
        for (String line : Files.readAllLines(TEMPLATES.resolve("content-formats.jsonl"))) {
            JsonNode row = json.readTree(line);
            String name = row.get("name").textValue();
            String template =
                    row.has("template")
                            ? row.get("template").textValue()
                            : Files.readString(TEMPLATES.resolve("families/" + name + ".jinja"));
            String real = row.get("vllm").textValue() + " and " + row.get("sglang").textValue();
            parts += real.equals("string and string") ? 0 : 1;
            try {
                TemplateFacts facts = Template.compile(template).facts();
                String ours = format(facts.vllmParts()) + " and " + format(facts.sglangParts());
                if (!ours.equals(real)) {
                    different.add(name + ": " + ours + ", must be " + real + "\n" + template);
                }
            } catch (TemplateException e) {
                refused.add(name);
            }
        }
        assertEquals(List.of(), different, different.size() + " differ");
        assertEquals(List.of("a syntax error"), refused);
        assertTrue(parts > 100, "only " + parts + " templates get parts");
    }

    private static String format(boolean parts) {
        return parts ? "openai" : "string";
    }
}
