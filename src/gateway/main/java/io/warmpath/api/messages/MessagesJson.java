package io.warmpath.api.messages;

import io.warmpath.api.json.JsonTree;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Anthropic's {@code message} and its blocks, made of an answer of OpenAI's API. Stateless. */
final class MessagesJson {
    private static final String ENGINES_ID = "chatcmpl-";

    private MessagesJson() {}

    /** Throws {@link IOException} when this is not an answer of {@code /v1/chat/completions}. */
    static byte[] message(byte[] openai, String requestId, String model, List<String> stops)
            throws IOException {
        ChatChunk answer = ChatChunk.read(openai, 0, openai.length);
        if (!answer.hasChoice()) {
            throw new IOException("no choice");
        }
        MessagesEnd end = new MessagesEnd(stops);
        end.add(answer);
        if (end.aborted()) {
            throw new IOException("an aborted answer");
        }
        String id = id(answer.id(), requestId);
        List<@Nullable Object> content = new ArrayList<>();
        if (!answer.thinking().isEmpty()) {
            content.add(thinking(answer.thinking()));
        }
        if (!answer.text().isEmpty()) {
            content.add(text(answer.text()));
        }
        for (ChatChunk.Call call : answer.calls()) {
            content.add(call(call, id, input(call.arguments())));
        }
        Map<String, @Nullable Object> message = message(id, model, content);
        end.write(message);
        message.put("usage", end.usage());
        return JsonTree.bytes(message);
    }

    static Map<String, @Nullable Object> message(
            String id, String model, List<@Nullable Object> content) {
        Map<String, @Nullable Object> message = typed("message");
        message.put("id", id);
        message.put("role", "assistant");
        message.put("model", model);
        message.put("content", content);
        return message;
    }

    static String id(@Nullable String engines, String requestId) {
        String id = engines == null || engines.isEmpty() ? requestId : engines;
        return "msg_" + (id.startsWith(ENGINES_ID) ? id.substring(ENGINES_ID.length()) : id);
    }

    static Map<String, @Nullable Object> text(String text) {
        Map<String, @Nullable Object> block = typed("text");
        block.put("text", text);
        return block;
    }

    /** Unsigned: it is not checked when it comes back. */
    static Map<String, @Nullable Object> thinking(String thinking) {
        Map<String, @Nullable Object> block = typed("thinking");
        block.put("thinking", thinking);
        block.put("signature", "");
        return block;
    }

    static Map<String, @Nullable Object> call(ChatChunk.Call call, String message, Object input) {
        Map<String, @Nullable Object> block = typed("tool_use");
        block.put("id", call.id() == null ? "toolu_" + message + "_" + call.index() : call.id());
        block.put("name", call.name() == null ? "" : call.name());
        block.put("input", input);
        return block;
    }

    /** Arguments that are no object, mostly because they were cut off, can still be read. */
    private static Object input(String arguments) {
        byte[] bytes = arguments.getBytes(StandardCharsets.UTF_8);
        if (arguments.isBlank()) {
            return Map.of();
        }
        try {
            return JsonTree.object(bytes, 0, bytes.length);
        } catch (IOException e) {
            return Map.of("INVALID_JSON", arguments);
        }
    }

    static Map<String, @Nullable Object> typed(String type) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("type", type);
        return object;
    }
}
