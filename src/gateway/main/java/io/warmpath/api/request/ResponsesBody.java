package io.warmpath.api.request;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.json.JsonInput;
import io.warmpath.api.json.JsonTree;
import io.warmpath.api.json.JsonTree.Fractions;
import io.warmpath.net.HeapBytes;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.template.PromptInput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The chat that engines make of a {@code /v1/responses} body: instructions as the system message,
 * then the input, a text or a list of messages. Only what vLLM and SGLang make the same of, in each
 * of their versions. Tools, calls, reasoning, media, stored conversations and everything that is
 * not known is refused; the request is then routed by load. Not on an event loop.
 */
final class ResponsesBody {
    /** Members that change nothing of the prompt. */
    private static final Set<String> HARMLESS =
            Set.of(
                    ("model stream stream_options store metadata user safety_identifier"
                                    + " temperature top_p top_k top_logprobs max_output_tokens"
                                    + " max_tool_calls parallel_tool_calls tool_choice text include"
                                    + " service_tier priority cache_salt prompt_cache_key"
                                    + " prompt_cache_retention request_id nvext")
                            .split(" ", -1));

    private static final Set<String> OF_A_MESSAGE =
            Set.of("type", "role", "content", "id", "status", "phase");

    private static final Set<String> TEXTS = Set.of("input_text", "output_text", "text");

    private final List<Object> messages = new ArrayList<>();
    private String lastRole = "";

    private ResponsesBody() {}

    /** A prompt that is read when somebody wants its tokens. The body must not change. */
    static PromptInput.Conversation later(Buffer body) {
        HeapBytes bytes = HeapBytes.of(body);
        return new PromptInput.Conversation(bytes.length(), () -> read(bytes));
    }

    /**
     * @throws IllegalArgumentException naming what is not understood
     */
    static ChatRequest read(HeapBytes bytes) {
        try (JsonParser json = JsonInput.parser(bytes.array(), bytes.offset(), bytes.length())) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw unknown("a body that is no object");
            }
            return new ResponsesBody().chat(JsonTree.object(json, Fractions.DOUBLE));
        } catch (IOException e) {
            throw new IllegalArgumentException("not JSON", e);
        }
    }

    private ChatRequest chat(Map<String, @Nullable Object> body) {
        body.forEach(
                (name, value) -> {
                    if (!HARMLESS.contains(name)
                            && !name.equals("input")
                            && !name.equals("instructions")
                            && !isNothing(name, value)) {
                        throw unknown(name);
                    }
                });
        Object instructions = body.get("instructions");
        if (instructions instanceof String text) {
            if (!text.isEmpty()) {
                add("system", text);
            }
        } else if (instructions != null) {
            throw unknown("instructions");
        }
        Object input = body.get("input");
        if (input instanceof String text) {
            add("user", text);
        } else if (input instanceof List<?> items && !items.isEmpty()) {
            items.forEach(this::item);
        } else {
            throw unknown("input");
        }
        if (lastRole.equals("assistant")) {
            throw unknown("an answer to go on with");
        }
        return ChatRequest.of(messages, null);
    }

    /** As if it was not there. */
    private static boolean isNothing(String name, @Nullable Object value) {
        return value == null
                || Boolean.FALSE.equals(value)
                || (value instanceof List<?> list && list.isEmpty())
                || (name.equals("truncation") && value.equals("disabled"));
    }

    private void item(@Nullable Object item) {
        if (!(item instanceof Map<?, ?> message) || !isWholeMessage(message)) {
            throw unknown("an item that is no whole message");
        }
        String role = String.valueOf(message.get("role"));
        message.forEach(
                (name, value) -> {
                    if (!(name instanceof String known && OF_A_MESSAGE.contains(known))
                            && value != null) {
                        throw unknown("a message with " + name);
                    }
                });
        boolean expected =
                switch (role) {
                    case "user" -> true;
                    case "assistant" ->
                            !lastRole.equals("assistant"); // engines join them otherwise
                    case "system" -> messages.isEmpty(); // some engines put them together
                    default -> false;
                };
        if (!expected) {
            throw unknown("role " + role + " in this place");
        }
        add(role, content(message.get("content")));
    }

    private static boolean isWholeMessage(Map<?, ?> item) {
        Object type = item.get("type");
        Object status = item.get("status");
        return (type == null || type.equals("message"))
                && (status == null || status.equals("completed"));
    }

    /** A text, or a list of one text: engines join several in ways of their own. */
    private static Object content(@Nullable Object content) {
        if (content instanceof String text) {
            return text;
        }
        if (content instanceof List<?> parts
                && parts.size() == 1
                && parts.getFirst() instanceof Map<?, ?> part
                && part.get("type") instanceof String type
                && TEXTS.contains(type)
                && part.get("text") instanceof String text) {
            Map<String, Object> plain = new LinkedHashMap<>(4);
            plain.put("type", "text");
            plain.put("text", text);
            return List.of(plain);
        }
        throw unknown("content that is not one text");
    }

    private void add(String role, Object content) {
        Map<String, Object> message = new LinkedHashMap<>(4);
        message.put("role", role);
        message.put("content", content);
        messages.add(message);
        lastRole = role;
    }

    private static IllegalArgumentException unknown(String what) {
        return new IllegalArgumentException("not predicted of /v1/responses: " + what);
    }
}
