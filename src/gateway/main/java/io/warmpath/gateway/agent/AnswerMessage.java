package io.warmpath.gateway.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeType;
import io.warmpath.gateway.request.GatewayJson;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The message that a chat's answer was, as a client sends it back with its next turn: text and tool
 * calls, with or without the reasoning. From the bytes of a stream or of one document; not on an
 * event loop. One thread.
 */
final class AnswerMessage {
    /** The name of an answer's reasoning that every engine reads. */
    static final String REASONING = "reasoning_content";

    private static final List<String> REASONINGS = List.of(REASONING, "reasoning");
    private static final String DATA = "data:";

    private final StringBuilder text = new StringBuilder();
    private final StringBuilder reasoning = new StringBuilder();
    private final Map<Integer, ToolCall> calls = new TreeMap<>();
    private boolean several;

    private static final class ToolCall {
        private String id = "";
        private String name = "";
        private final StringBuilder arguments = new StringBuilder();
    }

    private AnswerMessage() {}

    /** Null when there is no message in it, or more than one. */
    static @Nullable AnswerMessage read(byte[] answer, boolean eventStream) {
        AnswerMessage message = new AnswerMessage();
        String all = new String(answer, StandardCharsets.UTF_8);
        try {
            if (eventStream) {
                all.lines()
                        .filter(line -> line.startsWith(DATA))
                        .map(line -> line.substring(DATA.length()).strip())
                        .filter(data -> data.startsWith("{"))
                        .forEach(data -> message.choices(GatewayJson.tree(data), "delta"));
            } else {
                message.choices(GatewayJson.tree(all), "message");
            }
        } catch (IllegalArgumentException e) {
            return null; // not a chat's answer
        }
        return message.several || (message.text.isEmpty() && message.calls.isEmpty())
                ? null
                : message;
    }

    private void choices(JsonNode chunk, String member) {
        for (JsonNode choice : member(chunk, "choices", JsonNodeType.ARRAY)) {
            JsonNode said = member(choice, member, JsonNodeType.OBJECT);
            if (member(choice, "index", JsonNodeType.NUMBER).intValue() != 0) {
                several = true;
            } else if (said.isObject()) {
                add(said);
            }
        }
    }

    private void add(JsonNode said) {
        if (said.path("content").isTextual()) {
            text.append(said.path("content").textValue());
        }
        for (String name : REASONINGS) {
            if (said.path(name).isTextual()) {
                reasoning.append(said.path(name).textValue());
                break; // some engines write it by both names
            }
        }
        int i = 0;
        for (JsonNode part : member(said, "tool_calls", JsonNodeType.ARRAY)) {
            JsonNode index = member(part, "index", JsonNodeType.NUMBER);
            int number = index.isNumber() ? index.intValue() : i;
            i++;
            ToolCall call = calls.computeIfAbsent(number, n -> new ToolCall());
            call.id += part.path("id").asText("");
            JsonNode function = member(part, "function", JsonNodeType.OBJECT);
            call.name += function.path("name").asText("");
            call.arguments.append(function.path("arguments").asText(""));
        }
    }

    /**
     * Null or missing where it is not there.
     *
     * @throws IllegalArgumentException when it is of another type
     */
    private static JsonNode member(JsonNode of, String name, JsonNodeType type) {
        JsonNode member = of.path(name);
        if (!of.isObject() || !(member.isNull() || member.isMissingNode() || is(member, type))) {
            throw new IllegalArgumentException("no " + type + " is given as " + name);
        }
        return member;
    }

    private static boolean is(JsonNode node, JsonNodeType type) {
        return node.getNodeType() == type;
    }

    /**
     * By which name the client sends the reasoning of answers back.
     *
     * @param messages of the request
     * @return null when it does not, or there was none yet
     */
    static @Nullable String reasoningIn(List<? extends @Nullable Object> messages) {
        String found = null;
        for (Object message : messages) {
            if (message instanceof Map<?, ?> members && "assistant".equals(members.get("role"))) {
                for (String name : REASONINGS) {
                    found = members.get(name) instanceof String ? name : found;
                }
            }
        }
        return found;
    }

    /**
     * As a member of {@code messages}.
     *
     * @param reasoningName what its reasoning is called; null: it is left out
     */
    Map<String, @Nullable Object> asMessage(@Nullable String reasoningName) {
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        message.put("role", "assistant");
        message.put("content", text.isEmpty() ? null : text.toString());
        if (reasoningName != null && !reasoning.isEmpty()) {
            message.put(reasoningName, reasoning.toString());
        }
        if (!calls.isEmpty()) {
            List<Object> all =
                    calls.values().stream()
                            .<Object>map(
                                    c ->
                                            Map.of(
                                                    "id",
                                                    c.id,
                                                    "type",
                                                    "function",
                                                    "function",
                                                    Map.of(
                                                            "name",
                                                            c.name,
                                                            "arguments",
                                                            c.arguments.toString())))
                            .toList();
            message.put("tool_calls", all);
        }
        return message;
    }

    /** What the client will send after it, with {@code content} for what is not known yet. */
    Map<String, @Nullable Object> reply(String content) {
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        if (calls.isEmpty()) {
            message.put("role", "user");
        } else {
            message.put("role", "tool");
            message.put("tool_call_id", calls.values().iterator().next().id);
        }
        message.put("content", content);
        return message;
    }
}
