package io.warmpath.tokens.template;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.adapter.tokenizer.DemoModel;
import io.warmpath.tokens.profile.EnginePrompt;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares with texts that real Jinja2 rendered (src/test/scripts/make_chat_golden.py). */
class ChatMlRecogniserTest {
    static Stream<Arguments> cases() {
        JsonNode golden = DemoModel.resource("/tokens/chat_golden.json");
        return StreamSupport.stream(golden.get("cases").spliterator(), false)
                .map(one -> Arguments.of(one.get("name").asText(), one, specials(golden)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void a_recognised_template_renders_what_jinja_renders(
            String name, JsonNode one, Map<String, String> specials) {
        Optional<ChatMlTemplate> template =
                ChatMlRecogniser.recognise(one.get("template").asText(), specials);
        assertEquals(one.get("linear").asBoolean(), template.isPresent());
        if (template.isEmpty()) {
            return;
        }
        for (JsonNode rendering : one.get("renderings")) {
            List<PromptInput.Message> messages = messages(rendering);
            EnginePrompt ours =
                    template.get()
                            .render(messages, rendering.get("addGenerationPrompt").asBoolean());
            assertEquals(
                    new EnginePrompt.Text(rendering.get("text").asText()),
                    ours,
                    messages::toString);
        }
    }

    @Test
    void a_token_that_the_model_does_not_have_is_not_taken_for_empty() {
        String jinja =
                "{{ bos_token }}{% for message in messages %}{{ message.role + message.content }}"
                        + "{% endfor %}";
        assertTrue(ChatMlRecogniser.recognise(jinja, Map.of()).isEmpty());
        assertTrue(ChatMlRecogniser.recognise(jinja, Map.of("bos_token", "<s>")).isPresent());
    }

    @Test
    void broken_templates_are_not_recognised() {
        String good =
                "{% for message in messages %}{{ 'a\\n' + message.role + message['content'] }}"
                        + "{% endfor %}";
        assertTrue(ChatMlRecogniser.recognise(good, Map.of()).isPresent());
        for (int cut = 0; cut < good.length(); cut++) {
            assertTrue(
                    ChatMlRecogniser.recognise(good.substring(0, cut), Map.of()).isEmpty(),
                    good.substring(0, cut));
        }
    }

    private static Map<String, String> specials(JsonNode golden) {
        Map<String, String> specials = new HashMap<>();
        golden.get("specialTokens")
                .properties()
                .forEach(e -> specials.put(e.getKey(), e.getValue().asText()));
        return specials;
    }

    private static List<PromptInput.Message> messages(JsonNode rendering) {
        List<PromptInput.Message> messages = new ArrayList<>();
        for (JsonNode message : rendering.get("messages")) {
            messages.add(
                    new PromptInput.Message(
                            message.get("role").asText(), message.get("content").asText()));
        }
        return messages;
    }
}
