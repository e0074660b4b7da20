package io.warmpath.tokens.profile;

import io.warmpath.tokens.jinja.HuggingFaceChat;
import io.warmpath.tokens.jinja.TemplateFacts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What vLLM 0.33 does. A message is built anew from the members it knows, in its own order;
 * contents become lists of parts or texts, by what the template loops over. One per request.
 */
record VllmProfile(ChatRequest chat, TemplateFacts facts) {
    private static final String SYSTEM = "system";
    private static final String DEVELOPER = "developer";

    TemplateInput normalised() {
        if (chat.continueFinalMessage() && Boolean.TRUE.equals(chat.addGenerationPrompt())) {
            throw NotRendered.invalid(
                    "continue_final_message", "and `add_generation_prompt` exclude each other.");
        }
        List<Map<String, @Nullable Object>> messages = new ArrayList<>(chat.messages().size());
        boolean developer = false;
        for (int i = 0; i < chat.messages().size(); i++) {
            Map<String, @Nullable Object> message = message("messages[" + i + "]", i);
            developer |= DEVELOPER.equals(message.get("role"));
            messages.add(message);
        }
        if (developer && !facts.developer()) {
            messages = oneSystemMessage(messages);
        }
        return new TemplateInput(
                new HuggingFaceChat(
                        messages,
                        tools(),
                        documents(),
                        !Boolean.FALSE.equals(chat.addGenerationPrompt()),
                        chat.continueFinalMessage(),
                        arguments()),
                "",
                null);
    }

    private Map<String, @Nullable Object> message(String path, int index) {
        Map<?, ?> given = Members.object(path, chat.messages().get(index));
        String role = Members.text(path + ".role", given.get("role"));
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        message.put("role", role);
        Object content = content(path + ".content", role, given.get("content"));
        message.put("content", role.equals("tool") ? oneText(content) : content);
        if (role.equals("assistant")) {
            if (given.get("tool_calls") != null) {
                List<?> calls = toolCalls(path + ".tool_calls", given.get("tool_calls"));
                if (!calls.isEmpty()) {
                    message.put("tool_calls", calls);
                }
            }
            String reasoning = reasoning(path, given);
            if (reasoning != null) {
                message.put("reasoning", reasoning);
                message.put("reasoning_content", reasoning);
            }
        } else if (role.equals("tool") && given.containsKey("tool_call_id")) {
            message.put("tool_call_id", given.get("tool_call_id"));
        }
        for (String kept : List.of("name", "task")) {
            if (given.get(kept) instanceof String text) {
                message.put(kept, text);
            }
        }
        if (role.equals(DEVELOPER)) {
            if (given.get("tools") != null) {
                throw NotRendered.unpredictable("tools of a developer message");
            }
            message.put("tools", null);
        }
        return message;
    }

    private static @Nullable String reasoning(String path, Map<?, ?> given) {
        String reasoning = Members.textOrNull(path + ".reasoning", given.get("reasoning"));
        return reasoning != null
                ? reasoning
                : Members.textOrNull(path + ".reasoning_content", given.get("reasoning_content"));
    }

    /** A text, or a list of parts; as a text, empty parts leave no trace. */
    private Object content(String path, String role, @Nullable Object given) {
        List<Map<String, Object>> parts = new ArrayList<>();
        if (given instanceof List<?> all) {
            for (int i = 0; i < all.size(); i++) {
                parts.add(
                        all.get(i) instanceof ChatMedia.Part medium
                                ? medium(medium.kind(), role)
                                : text(part(path + "[" + i + "]", all.get(i))));
            }
        } else if (given != null) {
            parts.add(text(Members.text(path, given)));
        }
        if (facts.vllmParts()) {
            return parts;
        }
        List<String> texts = new ArrayList<>(parts.size());
        for (Map<String, Object> part : parts) {
            texts.add(String.valueOf(part.get("text")));
        }
        texts.removeIf(String::isEmpty);
        return String.join("\n", texts);
    }

    private static Map<String, Object> text(String text) {
        Map<String, Object> part = new LinkedHashMap<>(4);
        part.put("type", "text");
        part.put("text", text);
        return part;
    }

    private Map<String, Object> medium(String kind, String role) {
        if (!facts.vllmParts() || !(role.equals("user") || role.equals("assistant"))) {
            throw NotRendered.unpredictable("media where the template wants texts");
        }
        Map<String, Object> part = new LinkedHashMap<>(2);
        part.put("type", kind);
        return part;
    }

    private static String part(String path, @Nullable Object given) {
        if (given instanceof String text) {
            return text;
        }
        Map<?, ?> part = Members.object(path, given);
        if (part.get("type") == null) {
            throw NotRendered.unpredictable("a content part without a type");
        }
        String type = Members.text(path + ".type", part.get("type"));
        if (Members.isMedia(type)) {
            throw NotRendered.unpredictable("content part " + type);
        }
        return switch (type) {
            case "text", "input_text", "output_text" ->
                    Members.text(path + ".text", part.get("text"));
            case "refusal" -> Members.text(path + ".refusal", part.get("refusal"));
            case "thinking" -> Members.text(path + ".thinking", part.get("thinking"));
            default -> throw NotRendered.invalid(path + ".type", "is not known.");
        };
    }

    /** Results of tools are texts, whatever the template loops over. */
    private static Object oneText(Object content) {
        if (!(content instanceof List<?> parts)) {
            return content;
        }
        List<String> texts = new ArrayList<>(parts.size());
        for (Object part : parts) {
            texts.add(String.valueOf(((Map<?, ?>) part).get("text")));
        }
        return String.join("\n", texts);
    }

    private static List<?> toolCalls(String path, @Nullable Object given) {
        List<?> calls = Members.list(path, given);
        List<Object> changed = new ArrayList<>(calls.size());
        for (int i = 0; i < calls.size(); i++) {
            String at = path + "[" + i + "]";
            Map<?, ?> call = Members.object(at, calls.get(i));
            if ("custom".equals(call.get("type"))) {
                throw NotRendered.unpredictable("a custom tool call");
            }
            if (!"function".equals(call.get("type"))) {
                throw NotRendered.invalid(at + ".type", "must be \"function\".");
            }
            Map<?, ?> function = Members.object(at + ".function", call.get("function"));
            Map<String, Object> newFunction = new LinkedHashMap<>(4);
            newFunction.put(
                    "arguments",
                    arguments(Members.text(at + ".function.arguments", function.get("arguments"))));
            newFunction.put("name", Members.text(at + ".function.name", function.get("name")));
            Map<String, Object> newCall = new LinkedHashMap<>(8);
            newCall.put("id", Members.text(at + ".id", call.get("id")));
            newCall.put("function", newFunction);
            newCall.put("type", "function");
            changed.add(newCall);
        }
        return changed;
    }

    private static Map<?, ?> arguments(String json) {
        try {
            return ArgumentsJson.parse(json, ArgumentsJson.Library.PYTHON) instanceof Map<?, ?> map
                    ? map
                    : Map.of();
        } catch (ArgumentsJson.NotJson e) {
            return Map.of(); // as the engine takes it
        }
    }

    /**
     * For a template that does not know developers: they are systems, and all systems one message,
     * unless there is only one and it is the first already.
     */
    private static List<Map<String, @Nullable Object>> oneSystemMessage(
            List<Map<String, @Nullable Object>> messages) {
        List<Map<String, @Nullable Object>> changed = new ArrayList<>(messages.size());
        List<Map<String, @Nullable Object>> others = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        boolean scattered = false;
        for (Map<String, @Nullable Object> message : messages) {
            Map<String, @Nullable Object> now = message;
            if (DEVELOPER.equals(message.get("role"))) {
                now = new LinkedHashMap<>(message);
                now.put("role", SYSTEM);
                now.remove("tools");
            }
            if (SYSTEM.equals(now.get("role"))) {
                scattered |= !changed.isEmpty();
                String text = String.valueOf(oneText(contentOf(now)));
                if (!text.isEmpty()) {
                    texts.add(text);
                }
            } else {
                others.add(now);
            }
            changed.add(now);
        }
        if (!scattered) {
            return changed;
        }
        Map<String, @Nullable Object> system = new LinkedHashMap<>(4);
        system.put("role", SYSTEM);
        system.put("content", String.join("\n\n", texts));
        others.add(0, system);
        return others;
    }

    private static Object contentOf(Map<String, @Nullable Object> message) {
        Object content = message.get("content");
        return content == null ? "" : content;
    }

    private @Nullable List<?> tools() {
        if (chat.tools() == null) {
            return null;
        }
        List<Object> tools = new ArrayList<>(chat.tools().size());
        for (int i = 0; i < chat.tools().size(); i++) {
            tools.add(tool("tools[" + i + "]", chat.tools().get(i)));
        }
        return tools;
    }

    private static Map<String, Object> tool(String path, @Nullable Object given) {
        Map<?, ?> tool = Members.object(path, given);
        if (tool.containsKey("type") && !"function".equals(tool.get("type"))) {
            throw NotRendered.invalid(path + ".type", "must be \"function\".");
        }
        Map<?, ?> function = Members.object(path + ".function", tool.get("function"));
        if (tool.get("defer_loading") != null || function.get("defer_loading") != null) {
            throw NotRendered.unpredictable("defer_loading of a tool");
        }
        String at = path + ".function.";
        Map<String, @Nullable Object> newFunction = new LinkedHashMap<>();
        newFunction.put("name", Members.text(at + "name", function.get("name")));
        newFunction.put(
                "description", Members.textOrNull(at + "description", function.get("description")));
        Object parameters = function.get("parameters");
        newFunction.put(
                "parameters",
                parameters == null ? null : Members.object(at + "parameters", parameters));
        Object strict = function.get("strict");
        if (strict instanceof Boolean) {
            newFunction.put("strict", strict);
        } else if (strict != null) {
            throw NotRendered.unpredictable("strict of a tool that is no boolean");
        }
        Map<String, Object> newTool = new LinkedHashMap<>(4);
        newTool.put("type", "function");
        newTool.put("function", newFunction);
        return newTool;
    }

    /** The request's own win over those among the arguments. */
    private @Nullable List<?> documents() {
        List<?> documents = chat.documents();
        if (documents == null) {
            Object argument = chat.arguments().get("documents");
            return argument == null
                    ? null
                    : Members.list("chat_template_kwargs.documents", argument);
        }
        for (int i = 0; i < documents.size(); i++) {
            String at = "documents[" + i + "]";
            Members.object(at, documents.get(i))
                    .forEach((name, value) -> Members.text(at + "." + name, value));
        }
        return documents;
    }

    private Map<String, @Nullable Object> arguments() {
        Map<String, @Nullable Object> arguments = new LinkedHashMap<>(chat.arguments());
        Members.refuseRendererArguments(arguments);
        for (String own : List.of("chat_template", "tokenize")) {
            if (arguments.containsKey(own)) {
                throw NotRendered.invalid("chat_template_kwargs." + own, "is not allowed.");
            }
        }
        String effort = chat.reasoningEffort();
        if (effort != null) {
            arguments.put("reasoning_effort", effort);
            if (!arguments.containsKey("enable_thinking")) {
                arguments.put("enable_thinking", !effort.equals("none"));
            }
        }
        // What the request itself says, or its default, is put over these.
        Set.of("documents", "add_generation_prompt", "continue_final_message", "return_dict")
                .forEach(arguments::remove);
        arguments.keySet().retainAll(facts.variables());
        return arguments;
    }
}
