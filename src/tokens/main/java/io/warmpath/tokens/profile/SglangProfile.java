package io.warmpath.tokens.profile;

import io.warmpath.tokens.jinja.HuggingFaceChat;
import io.warmpath.tokens.jinja.TemplateFacts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What SGLang 0.5.23 does. Messages are dumped from its own types, nulls left out; a last message
 * of the assistant never reaches the template as such. One per request.
 */
final class SglangProfile {
    private static final String CONTENT = "content";

    private static final Set<String> EFFORTS =
            Set.of("none", "minimal", "low", "medium", "high", "xhigh", "ultra", "max");

    private final ChatRequest chat;
    private final TemplateFacts facts;

    SglangProfile(ChatRequest chat, TemplateFacts facts) {
        this.chat = chat;
        this.facts = facts;
    }

    TemplateInput normalised() {
        List<Map<String, Object>> messages = new ArrayList<>(chat.messages().size());
        for (int i = 0; i < chat.messages().size(); i++) {
            messages.add(message("messages[" + i + "]", i));
        }
        List<?> tools = tools();
        String continued = lastAssistant(messages);
        Map<String, @Nullable Object> arguments = arguments();
        // Only the arguments have any: the engine's requests do not.
        Object documents = arguments.remove("documents");
        HuggingFaceChat input =
                new HuggingFaceChat(
                        messages,
                        tools,
                        documents == null
                                ? null
                                : Members.list("chat_template_kwargs.documents", documents),
                        true,
                        false,
                        arguments);
        return new TemplateInput(input, continued, tools == null ? null : bare(tools));
    }

    /** Takes it off, or makes it the user's. */
    private String lastAssistant(List<Map<String, Object>> messages) {
        if (messages.isEmpty()) {
            return "";
        }
        Map<String, Object> last = messages.getLast();
        if (!"assistant".equals(last.get("role")) || !(last.get(CONTENT) instanceof String text)) {
            return "";
        }
        messages.removeLast();
        if (chat.continueFinalMessage()) {
            return text;
        }
        Map<String, Object> user = new LinkedHashMap<>(4);
        user.put("role", "user");
        user.put(CONTENT, text);
        messages.add(user);
        return "";
    }

    private Map<String, Object> message(String path, int index) {
        Map<?, ?> given = Members.object(path, chat.messages().get(index));
        String role = Members.text(path + ".role", given.get("role"));
        Map<String, Object> message = new LinkedHashMap<>();
        if (role.equals("user")) {
            if (given.get(CONTENT) == null) {
                throw NotRendered.invalid(path + ".content", "must be text or an array of parts.");
            }
            message.put("role", role);
            message.put(CONTENT, content(path + ".content", given.get(CONTENT), false));
            return message;
        }
        String lower = role.toLowerCase(Locale.ROOT);
        switch (lower) {
            case "system", "assistant", "tool", "developer" -> {}
            case "function", "latest_reminder" ->
                    throw NotRendered.unpredictable("the role " + lower);
            default -> throw NotRendered.invalid(path + ".role", "is not known.");
        }
        message.put("role", lower);
        Object content = content(path + ".content", given.get(CONTENT), lower.equals("assistant"));
        boolean list = content instanceof List<?>;
        if (!list) {
            message.put(CONTENT, content);
        }
        for (String name : List.of("tool_call_id", "name", "reasoning_content")) {
            String text = Members.textOrNull(path + "." + name, given.get(name));
            if (text != null) {
                message.put(name, text);
            }
        }
        if (given.get("tool_calls") != null) {
            message.put(
                    "tool_calls",
                    toolCalls(
                            path + ".tool_calls",
                            given.get("tool_calls"),
                            lower.equals("assistant")));
        }
        if (given.get("tools") != null) {
            throw NotRendered.unpredictable("tools of a message");
        }
        if (list) { // put behind all others, and then maybe made one text in its place
            message.put(CONTENT, lower.equals("tool") ? joined((List<?>) content) : content);
        }
        return message;
    }

    /** Texts stay texts; lists stay lists where the template seems to want them. */
    private Object content(String path, @Nullable Object given, boolean assistant) {
        if (given == null) {
            return "";
        }
        if (!(given instanceof List<?> parts)) {
            return Members.text(path, given);
        }
        List<Map<String, Object>> changed = new ArrayList<>(parts.size());
        for (int i = 0; i < parts.size(); i++) {
            Map<String, Object> part =
                    parts.get(i) instanceof ChatMedia.Part medium
                            ? medium(medium.kind())
                            : part(path + "[" + i + "]", parts.get(i), assistant);
            if (part != null) {
                changed.add(part);
            }
        }
        return facts.sglangParts() ? changed : joined(changed);
    }

    private Map<String, Object> medium(String kind) {
        if (!facts.sglangParts() || !kind.equals("image")) {
            throw NotRendered.unpredictable("media where the template wants texts");
        }
        Map<String, Object> part = new LinkedHashMap<>(2);
        part.put("type", kind);
        return part;
    }

    private static String joined(List<?> parts) {
        List<String> texts = new ArrayList<>(parts.size());
        for (Object part : parts) {
            texts.add(String.valueOf(((Map<?, ?>) part).get("text")));
        }
        return String.join(" ", texts);
    }

    /** Null for an answer's thought, which leaves no trace. */
    private static @Nullable Map<String, Object> part(
            String path, @Nullable Object given, boolean assistant) {
        Map<?, ?> part = Members.object(path, given);
        String type = Members.text(path + ".type", part.get("type"));
        if (assistant && (type.equals("thinking") || type.equals("reasoning"))) {
            return null;
        }
        if (Members.isMedia(type)) {
            throw NotRendered.unpredictable("content part " + type);
        }
        if (!type.equals("text")) {
            throw NotRendered.invalid(path + ".type", "is not known.");
        }
        Map<String, Object> changed = new LinkedHashMap<>(4);
        changed.put("type", "text");
        changed.put("text", Members.text(path + ".text", part.get("text")));
        return changed;
    }

    private static List<?> toolCalls(String path, @Nullable Object given, boolean parsed) {
        List<?> calls = Members.list(path, given);
        List<Object> changed = new ArrayList<>(calls.size());
        for (int i = 0; i < calls.size(); i++) {
            String at = path + "[" + i + "]";
            Map<?, ?> call = Members.object(at, calls.get(i));
            if (call.containsKey("type") && !"function".equals(call.get("type"))) {
                throw NotRendered.invalid(at + ".type", "must be \"function\".");
            }
            Object index = call.get("index");
            if (index != null && !(index instanceof Integer)) {
                throw NotRendered.unpredictable("an index of a tool call that is no small integer");
            }
            Map<?, ?> function = Members.object(at + ".function", call.get("function"));
            Map<String, @Nullable Object> newFunction = new LinkedHashMap<>(4);
            newFunction.put(
                    "name", Members.textOrNull(at + ".function.name", function.get("name")));
            newFunction.put(
                    "arguments",
                    arguments(at + ".function.arguments", function.get("arguments"), parsed));
            Map<String, @Nullable Object> newCall = new LinkedHashMap<>(8);
            newCall.put("id", Members.textOrNull(at + ".id", call.get("id")));
            newCall.put("index", index);
            newCall.put("type", "function");
            newCall.put("function", newFunction);
            changed.add(newCall);
        }
        return changed;
    }

    private static @Nullable Object arguments(String path, @Nullable Object given, boolean parsed) {
        if (given == null || given instanceof Map<?, ?>) {
            return given;
        }
        String json = Members.text(path, given);
        if (!parsed) {
            return json;
        }
        try {
            if (ArgumentsJson.parse(json, ArgumentsJson.Library.ORJSON) instanceof Map<?, ?> map) {
                return map;
            }
        } catch (ArgumentsJson.NotJson e) {
            throw NotRendered.invalid(path, "is not JSON, " + e.getMessage() + ".");
        }
        throw NotRendered.invalid(path, "must be a JSON object.");
    }

    /** Null when the engine hides them: none, none to be called, none of the name asked for. */
    private @Nullable List<?> tools() {
        if (chat.tools() == null || chat.tools().isEmpty()) {
            return null;
        }
        List<Object> tools = new ArrayList<>(chat.tools().size());
        for (int i = 0; i < chat.tools().size(); i++) {
            Map<String, @Nullable Object> tool = tool("tools[" + i + "]", chat.tools().get(i));
            if (isChosen(tool)) {
                tools.add(tool);
            }
        }
        return "none".equals(chat.toolChoice()) ? null : tools;
    }

    private boolean isChosen(Map<String, @Nullable Object> tool) {
        Object choice = chat.toolChoice();
        if (choice == null || choice instanceof String) {
            return true;
        }
        Map<?, ?> function =
                Members.object(
                        "tool_choice.function",
                        Members.object("tool_choice", choice).get("function"));
        Map<?, ?> own = Members.object("tools", tool.get("function"));
        return String.valueOf(own.get("name")).equals(function.get("name"));
    }

    private static Map<String, @Nullable Object> tool(String path, @Nullable Object given) {
        Map<?, ?> tool = Members.object(path, given);
        String type =
                tool.containsKey("type")
                        ? Members.text(path + ".type", tool.get("type"))
                        : "function";
        if (tool.get("defer_loading") != null) {
            throw NotRendered.unpredictable("defer_loading of a tool");
        }
        Map<?, ?> function = Members.object(path + ".function", tool.get("function"));
        String at = path + ".function.";
        Members.text(at + "name", function.get("name"));
        Members.textOrNull(at + "description", function.get("description"));
        Map<String, @Nullable Object> newFunction = new LinkedHashMap<>();
        function.forEach(
                (name, value) -> {
                    switch (String.valueOf(name)) {
                        case "name", "description", "parameters" ->
                                newFunction.put(String.valueOf(name), value);
                        case "strict" -> {
                            if (!(value instanceof Boolean)) {
                                throw NotRendered.unpredictable(
                                        "strict of a tool that is no boolean");
                            }
                            newFunction.put("strict", value);
                        }
                        case "defer_loading" -> {
                            if (value != null) {
                                throw NotRendered.unpredictable("defer_loading of a tool");
                            }
                        }
                        default -> {} // dropped
                    }
                });
        newFunction.putIfAbsent("description", null);
        newFunction.putIfAbsent("parameters", null);
        Map<String, @Nullable Object> newTool = new LinkedHashMap<>(4);
        newTool.put("type", type);
        newTool.put("function", newFunction);
        newTool.put("defer_loading", null);
        return newTool;
    }

    private static List<?> bare(List<?> tools) {
        List<@Nullable Object> functions = new ArrayList<>(tools.size());
        tools.forEach(tool -> functions.add(((Map<?, ?>) tool).get("function")));
        return functions;
    }

    private Map<String, @Nullable Object> arguments() {
        Map<String, @Nullable Object> arguments = new LinkedHashMap<>(chat.arguments());
        effort(arguments);
        Members.refuseRendererArguments(arguments);
        if (arguments.containsKey("chat_template")) {
            throw NotRendered.unpredictable("chat_template_kwargs.chat_template");
        }
        for (String own :
                List.of(
                        "add_generation_prompt",
                        "continue_final_message",
                        "tokenize",
                        "return_dict")) {
            if (arguments.containsKey(own)) {
                throw NotRendered.invalid(
                        "chat_template_kwargs." + own, "is what the engine sets itself.");
            }
        }
        return arguments;
    }

    /** Any effort but none switches thinking on, by both names, where the arguments do not say. */
    private void effort(Map<String, @Nullable Object> arguments) {
        String effort = chat.reasoningEffort();
        if (effort != null) {
            if (!EFFORTS.contains(effort)) {
                throw effort.matches("0?\\.\\d+|0")
                        ? NotRendered.unpredictable("reasoning_effort that is a number")
                        : NotRendered.invalid("reasoning_effort", "is not known.");
            }
            for (String name : List.of("thinking", "enable_thinking")) {
                if (!arguments.containsKey(name)) {
                    arguments.put(name, !effort.equals("none"));
                }
            }
        }
        if (arguments.get("reasoning_effort") == null && effort != null) {
            arguments.put("reasoning_effort", effort);
        }
        if ("low".equals(arguments.get("reasoning_effort"))
                && facts.variables().contains("low_effort")
                && facts.variables().contains("truncate_history_thinking")
                && !arguments.containsKey("low_effort")) {
            arguments.put("low_effort", true);
        }
    }
}
