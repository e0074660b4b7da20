package io.warmpath.tokens.jinja;

import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A chat with everything that a template may ask for, rendered as transformers' {@code
 * apply_chat_template} renders it (below version 5.21, which the engines pin).
 *
 * <p>Values are those of {@link Template#render}. Nothing is changed on the way: what engines do to
 * messages before is another matter.
 *
 * @param tools null: none
 * @param documents null: none
 * @param continueFinalMessage the text ends where the last message's content does, so that the
 *     model goes on with it
 * @param arguments the request's own variables; they win over special tokens
 */
public record HuggingFaceChat(
        List<? extends @Nullable Object> messages,
        @Nullable List<? extends @Nullable Object> tools,
        @Nullable List<? extends @Nullable Object> documents,
        boolean addGenerationPrompt,
        boolean continueFinalMessage,
        Map<String, ? extends @Nullable Object> arguments) {

    private static final String TAG = "CONTINUE_FINAL_MESSAGE_TAG";

    /**
     * @param specialTokens {@code bos_token} and so on, as far as the tokenizer has them
     * @throws TemplateException when the template refuses the chat, or fails on it
     */
    public String render(
            Template template,
            Map<String, String> specialTokens,
            RenderLimits limits,
            Clock clock) {
        if (messages.isEmpty()) {
            throw TemplateException.failed("there are no messages");
        }
        if (continueFinalMessage && addGenerationPrompt) {
            throw TemplateException.failed(
                    "continue_final_message and add_generation_prompt exclude each other");
        }
        Map<String, @Nullable Object> variables = new HashMap<>(specialTokens);
        variables.putAll(arguments);
        for (String own : List.of("messages", "tools", "documents", "add_generation_prompt")) {
            if (arguments.containsKey(own)) {
                throw TemplateException.failed(
                        own + " cannot be given in chat_template_kwargs as well");
            }
        }
        StringBuilder last = new StringBuilder();
        variables.put("messages", continueFinalMessage ? tagged(last) : messages);
        variables.put("tools", tools);
        variables.put("documents", documents);
        variables.put("add_generation_prompt", addGenerationPrompt);
        String text = template.render(variables, limits, clock);
        return continueFinalMessage ? cut(text, last.toString()) : text;
    }

    /** The messages with a tag at the end of the last one; its content goes to {@code content}. */
    private List<@Nullable Object> tagged(StringBuilder content) {
        if (!(messages.getLast() instanceof Map<?, ?> message)) {
            throw TemplateException.failed("the last message is no object");
        }
        Map<Object, @Nullable Object> changed = new LinkedHashMap<>(message);
        Object old = message.get("content");
        if (old instanceof String text) {
            content.append(text);
            changed.put("content", text + TAG + " ");
        } else if (old instanceof List<?> parts) {
            changed.put("content", taggedParts(parts, content));
        } else {
            throw TemplateException.failed(
                    "continue_final_message needs a last message with text as its content");
        }
        List<@Nullable Object> all = new ArrayList<>(messages);
        all.set(all.size() - 1, changed);
        return all;
    }

    private static List<@Nullable Object> taggedParts(List<?> parts, StringBuilder content) {
        List<@Nullable Object> changed = new ArrayList<>(parts);
        for (int i = parts.size() - 1; i >= 0; i--) {
            if (parts.get(i) instanceof Map<?, ?> part && part.get("text") instanceof String text) {
                Map<Object, @Nullable Object> tagged = new LinkedHashMap<>(part);
                tagged.put("text", text + TAG + " ");
                content.append(text);
                changed.set(i, tagged);
                return changed;
            }
        }
        throw TemplateException.failed(
                "continue_final_message is set but the last message has no text to continue");
    }

    private static String cut(String text, String content) {
        int at = text.lastIndexOf(TAG);
        if (at < 0 || !text.contains(PyText.strip(content, null))) {
            throw TemplateException.failed(
                    "continue_final_message is set but the template does not print the last"
                            + " message as it is");
        }
        String before = text.substring(0, at);
        // Without its blank the tag was trimmed, and so was what the message ends with.
        return text.startsWith(TAG + " ", at) ? before : PyText.rstrip(before);
    }
}
