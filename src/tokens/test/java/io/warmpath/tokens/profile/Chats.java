package io.warmpath.tokens.profile;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.tokens.jinja.RenderLimits;
import io.warmpath.tokens.jinja.Template;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Chat requests written as JSON, and what a profile makes of them. */
final class Chats {
    /** Prints what the template gets. */
    static final String DUMP = "{{ messages | tojson }}";

    /** As {@link #DUMP}; engines take it for one that wants parts. */
    static final String DUMP_PARTS =
            DUMP + "{% for m in messages %}{% for c in m.content %}{% endfor %}{% endfor %}";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Clock CLOCK =
            Clock.fixed(Instant.parse("2026-05-06T00:00:00Z"), ZoneOffset.UTC);

    private Chats() {}

    /** Single quotes stand for double ones. */
    static ChatRequest request(String json) {
        return exactly(json.replace('\'', '"'));
    }

    static ChatRequest exactly(String json) {
        Map<String, @Nullable Object> line;
        try {
            line =
                    JSON.readValue(
                            json, new TypeReference<LinkedHashMap<String, @Nullable Object>>() {});
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(json, e);
        }
        Map<String, @Nullable Object> arguments = new LinkedHashMap<>();
        if (line.get("chat_template_kwargs") instanceof Map<?, ?> given) {
            given.forEach((k, v) -> arguments.put(String.valueOf(k), v));
        }
        return new ChatRequest(
                line.get("messages") instanceof List<?> messages ? messages : List.of(),
                (List<?>) line.get("tools"),
                line.get("tool_choice"),
                (List<?>) line.get("documents"),
                (Boolean) line.get("add_generation_prompt"),
                Boolean.TRUE.equals(line.get("continue_final_message")),
                arguments,
                (String) line.get("reasoning_effort"));
    }

    static EnginePrompt render(EngineProfile engine, String template, String json) {
        return render(engine, template, request(json));
    }

    static EnginePrompt render(EngineProfile engine, String template, ChatRequest chat) {
        return engine.render(
                chat,
                Template.compile(template),
                Map.of("bos_token", "<s>"),
                RenderLimits.DEFAULT,
                CLOCK);
    }

    /** With single quotes for double ones. */
    static String text(EngineProfile engine, String template, String json) {
        return switch (render(engine, template, json)) {
            case EnginePrompt.Text text -> text.whole().replace('"', '\'');
            case EnginePrompt other -> throw new AssertionError(other.toString());
        };
    }

    /** Path of what the engine answers with 400. */
    static String refused(EngineProfile engine, String template, String json) {
        return switch (render(engine, template, json)) {
            case EnginePrompt.Invalid invalid -> invalid.path();
            case EnginePrompt other -> throw new AssertionError(other.toString());
        };
    }

    static String unpredictable(EngineProfile engine, String template, String json) {
        return switch (render(engine, template, json)) {
            case EnginePrompt.Unpredictable other -> other.why();
            case EnginePrompt other -> throw new AssertionError(other.toString());
        };
    }
}
