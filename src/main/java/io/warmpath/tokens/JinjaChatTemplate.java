package io.warmpath.tokens;

import io.warmpath.tokens.PromptInput.Message;
import io.warmpath.tokens.jinja.HuggingFaceChat;
import io.warmpath.tokens.jinja.RenderLimits;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.jinja.TemplateException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Any chat template that {@link Template} can load.
 *
 * <p>What engines do to messages before the template is refused where they differ: unknown roles, a
 * last message of the assistant, several system messages, and contents that a template renders in
 * another way when they come as a list of parts.
 */
public final class JinjaChatTemplate implements ChatTemplate {
    /** Rendered on an event loop up to here; some microseconds each. */
    private static final int QUICK_MESSAGES = 64;

    private final Template template;
    private final Map<String, String> specialTokens;
    private final Clock clock;

    /**
     * @param specialTokens {@code bos_token} and so on, as far as the model has them
     * @param clock for templates that print the date, in the engines' time zone
     */
    public JinjaChatTemplate(Template template, Map<String, String> specialTokens, Clock clock) {
        this.template = template;
        this.specialTokens = Map.copyOf(specialTokens);
        this.clock = clock;
    }

    @Override
    public boolean isQuick(List<Message> messages) {
        return messages.size() <= QUICK_MESSAGES;
    }

    @Override
    public Rendering render(List<Message> messages, boolean addGenerationPrompt) {
        if (messages.isEmpty()) {
            return new Refused("no messages");
        }
        if (messages.getLast().role().equals("assistant")) {
            return new Refused("engines differ on a last message of the assistant");
        }
        int systems = 0;
        for (Message message : messages) {
            switch (message.role()) {
                case "user", "assistant", "tool" -> {}
                case "system" -> systems++;
                default -> {
                    return new Refused("engines differ on the role " + message.role());
                }
            }
        }
        if (systems > 1) {
            return new Refused("engines differ on several system messages");
        }
        try {
            String text = render(messages, addGenerationPrompt, Message::content);
            if (template.loopsOverContent()
                    && !text.equals(
                            render(messages, addGenerationPrompt, JinjaChatTemplate::part))) {
                return new Refused("the text differs with contents as parts");
            }
            return new Rendered(text);
        } catch (TemplateException e) {
            return new Refused("the template refuses it: " + e.getMessage());
        }
    }

    private static Object part(Message message) {
        Map<String, Object> part = new HashMap<>(4);
        part.put("type", "text");
        part.put("text", message.content());
        return List.of(part);
    }

    private String render(
            List<Message> messages, boolean addGenerationPrompt, Function<Message, Object> as) {
        List<Map<String, @Nullable Object>> list = new ArrayList<>(messages.size());
        for (Message message : messages) {
            // In the order in which engines have them; a template can print it.
            Map<String, @Nullable Object> map = new LinkedHashMap<>(4);
            map.put("role", message.role());
            map.put("content", as.apply(message));
            list.add(map);
        }
        HuggingFaceChat chat =
                new HuggingFaceChat(list, null, null, addGenerationPrompt, false, Map.of());
        return chat.render(template, specialTokens, RenderLimits.DEFAULT, clock);
    }
}
