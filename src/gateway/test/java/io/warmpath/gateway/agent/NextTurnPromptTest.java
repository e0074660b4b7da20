package io.warmpath.gateway.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.profile.ModelFacts;
import io.warmpath.tokens.template.JinjaChatTemplate;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** What is computed ahead of a next turn is the beginning of the prompt that then comes. */
class NextTurnPromptTest {
    private static final Path TEMPLATES = Path.of("src/test/resources/templates");
    private static final List<String> FAMILIES =
            List.of(
                    "families/deepseek-v31",
                    "families/glm45",
                    "families/kimi-k2",
                    "families/minimax-m2",
                    "families/nemotron-thinking",
                    "families/qwen3-thinking",
                    "families/smollm3",
                    "thinking/nemotron3",
                    "thinking/qwen35");

    private static final String THOUGHT = "I think\\nfirst.";
    private static final String CALL =
            ",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
                    + "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]";

    /** With its thought under {@code name}; null: without. */
    private static Map<String, Object> message(String role, String content, @Nullable String name) {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("role", role);
        message.put("content", content);
        if (name != null) {
            message.put(name, THOUGHT.replace("\\n", "\n"));
        }
        return message;
    }

    private static String render(String source, EngineProfile engine, ChatRequest chat) {
        JinjaChatTemplate template =
                new JinjaChatTemplate(
                        Template.compile(source),
                        null,
                        Map.of("bos_token", "<s>", "eos_token", "</s>"),
                        ModelFacts.UNKNOWN,
                        Clock.systemUTC(),
                        null);
        EnginePrompt prompt = template.render(chat, engine);
        return prompt instanceof EnginePrompt.Text text ? text.whole() : prompt.toString();
    }

    @TestFactory
    Stream<DynamicTest> it_ends_where_the_new_message_begins() {
        List<DynamicTest> tests = new ArrayList<>();
        for (String family : FAMILIES) {
            for (EngineProfile engine : List.of(EngineProfile.VLLM, EngineProfile.SGLANG)) {
                for (String name : Arrays.asList(null, "reasoning_content", "reasoning")) {
                    for (boolean calls : new boolean[] {false, true}) {
                        tests.add(
                                DynamicTest.dynamicTest(
                                        family + ", " + engine + ", " + name + ", " + calls,
                                        () -> check(family, engine, name, calls)));
                    }
                }
            }
        }
        return tests.stream();
    }

    private static void check(
            String family, EngineProfile engine, @Nullable String name, boolean calls)
            throws IOException {
        String source = Files.readString(TEMPLATES.resolve(family + ".jinja"));
        List<Map<String, Object>> before =
                List.of(
                        message("user", "Hi", null),
                        message("assistant", "Hello.", name),
                        message("user", "Well?", null));
        String engineSays = engine == EngineProfile.VLLM ? "reasoning" : "reasoning_content";
        AnswerMessage said =
                AnswerMessage.read(
                        ("{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
                                        + "\"content\":\"So.\",\""
                                        + engineSays
                                        + "\":\""
                                        + THOUGHT
                                        + "\""
                                        + (calls ? CALL : "")
                                        + "}}]}")
                                .getBytes(StandardCharsets.UTF_8),
                        false);
        assertNotNull(said);
        ChatRequest now = ChatRequest.of(before, null);
        String one = render(source, engine, NextTurn.next(now, said, "A"));
        String other = render(source, engine, NextTurn.next(now, said, "1"));
        int same = 0;
        while (one.charAt(same) == other.charAt(same)) {
            same++;
        }

        List<Object> all = new ArrayList<>(before);
        Map<String, Object> answer = message("assistant", "So.", name);
        Map<String, Object> reply = message(calls ? "tool" : "user", "zero", null);
        if (calls) {
            Map<String, Object> function = Map.of("name", "f", "arguments", "{}");
            answer.put(
                    "tool_calls",
                    List.of(Map.of("id", "c1", "type", "function", "function", function)));
            reply.put("tool_call_id", "c1");
        }
        all.add(answer);
        all.add(reply);
        String real = render(source, engine, ChatRequest.of(all, null));
        assertEquals(one.substring(0, same), real.substring(0, Math.min(same, real.length())));
        assertTrue(real.startsWith("zero", same), () -> real + "\n" + one);
    }
}
