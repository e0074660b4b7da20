package io.warmpath.gateway.agent;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The message that a chat's answer was, as a client sends it back with its next turn: text and tool
 * calls, without the reasoning. From the bytes of a stream or of one document; not on an event
 * loop. One thread.
 */
final class AnswerMessage {
    private static final String DATA = "data:";

    private final StringBuilder text = new StringBuilder();
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
                        .forEach(data -> message.choices(new JsonObject(data), "delta"));
            } else {
                message.choices(new JsonObject(all), "message");
            }
        } catch (DecodeException | ClassCastException e) {
            return null; // not a chat's answer
        }
        return message.several || (message.text.isEmpty() && message.calls.isEmpty())
                ? null
                : message;
    }

    private void choices(JsonObject chunk, String member) {
        JsonArray choices = chunk.getJsonArray("choices");
        for (int i = 0; choices != null && i < choices.size(); i++) {
            JsonObject choice = choices.getJsonObject(i);
            JsonObject said = choice.getJsonObject(member);
            if (choice.getInteger("index", 0) != 0) {
                several = true;
            } else if (said != null) {
                add(said);
            }
        }
    }

    private void add(JsonObject said) {
        if (said.getValue("content") instanceof String content) {
            text.append(content);
        }
        JsonArray more = said.getJsonArray("tool_calls");
        for (int i = 0; more != null && i < more.size(); i++) {
            JsonObject part = more.getJsonObject(i);
            ToolCall call = calls.computeIfAbsent(part.getInteger("index", i), n -> new ToolCall());
            call.id += part.getString("id", "");
            JsonObject function = part.getJsonObject("function");
            if (function != null) {
                String name = function.getString("name");
                String arguments = function.getString("arguments");
                call.name += name == null ? "" : name;
                call.arguments.append(arguments == null ? "" : arguments);
            }
        }
    }

    /** As a member of {@code messages}. */
    Map<String, @Nullable Object> asMessage() {
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        message.put("role", "assistant");
        message.put("content", text.isEmpty() ? null : text.toString());
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
