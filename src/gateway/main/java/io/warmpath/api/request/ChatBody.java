package io.warmpath.api.request;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.json.JsonInput;
import io.warmpath.api.json.JsonTree;
import io.warmpath.api.json.JsonTree.Fractions;
import io.warmpath.fault.GatewayException;
import io.warmpath.net.HeapBytes;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.template.PromptInput;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All of a chat that a template may look at, read out of a request's body as trees of values. For
 * chats with more than roles and texts only, and not on an event loop. A member given twice counts
 * with its last value, as the engines read it. One per body, one thread.
 */
public final class ChatBody {
    private final JsonParser json;
    private List<@Nullable Object> messages = List.of();
    private @Nullable List<@Nullable Object> tools;
    private @Nullable Object toolChoice;
    private @Nullable List<@Nullable Object> documents;
    private @Nullable Boolean addGenerationPrompt;
    private boolean continueFinalMessage;
    private Map<String, @Nullable Object> arguments = Map.of();
    private @Nullable String reasoningEffort;

    private ChatBody(JsonParser json) {
        this.json = json;
    }

    /** A prompt that is read when somebody wants its tokens. The body must not change. */
    static PromptInput.Conversation later(Buffer body) {
        return later(HeapBytes.of(body), new PromptInput.Extent());
    }

    /** The same of a body that is sent on, with names of its media where an engine takes them. */
    static PromptInput.Conversation sent(Buffer body) {
        HeapBytes bytes = HeapBytes.of(body);
        return later(bytes, new PromptInput.Extent(() -> MediaPlaces.of(bytes)));
    }

    private static PromptInput.Conversation later(HeapBytes bytes, PromptInput.Extent extent) {
        return new PromptInput.Conversation(
                bytes.length(),
                () -> {
                    try {
                        return read(bytes);
                    } catch (GatewayException e) {
                        throw new IllegalArgumentException(e.error().message(), e);
                    }
                },
                extent);
    }

    /**
     * @throws GatewayException BadRequest with the member's path
     */
    public static ChatRequest read(HeapBytes bytes) {
        return JsonInput.body(
                bytes,
                json -> {
                    ChatBody body = new ChatBody(json);
                    if (json.nextToken() != JsonToken.START_OBJECT) {
                        throw bad("", "The request body must be a JSON object.");
                    }
                    for (String name = json.nextFieldName();
                            name != null;
                            name = json.nextFieldName()) {
                        body.member(name, json.nextToken());
                    }
                    return body.request();
                });
    }

    private ChatRequest request() {
        return new ChatRequest(
                messages,
                tools,
                toolChoice,
                documents,
                addGenerationPrompt,
                continueFinalMessage,
                arguments,
                reasoningEffort);
    }

    private void member(String name, JsonToken value) throws IOException {
        boolean there = value != JsonToken.VALUE_NULL;
        switch (name) {
            case "messages" -> {
                List<@Nullable Object> read = list(name, value);
                messages = read == null ? List.of() : read;
            }
            case "tools" -> tools = list(name, value);
            case "tool_choice" -> toolChoice = JsonTree.value(json, value, Fractions.DOUBLE);
            case "documents" -> documents = list(name, value);
            case "add_generation_prompt" -> addGenerationPrompt = there ? flag(name, value) : null;
            case "continue_final_message" -> continueFinalMessage = there && flag(name, value);
            case "chat_template_kwargs" -> {
                if (there && value != JsonToken.START_OBJECT) {
                    throw bad(name, "`" + name + "` must be an object" + but(value));
                }
                arguments = there ? JsonTree.object(json, Fractions.DOUBLE) : Map.of();
            }
            case "reasoning_effort" -> {
                if (there && value != JsonToken.VALUE_STRING) {
                    throw bad(name, "`" + name + "` must be a string" + but(value));
                }
                reasoningEffort = there ? json.getText() : null;
            }
            default -> json.skipChildren();
        }
    }

    private @Nullable List<@Nullable Object> list(String name, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NULL) {
            return null;
        }
        if (value != JsonToken.START_ARRAY) {
            throw bad(name, "`" + name + "` must be an array" + but(value));
        }
        return JsonTree.array(json, Fractions.DOUBLE);
    }

    private static boolean flag(String name, JsonToken value) {
        if (value != JsonToken.VALUE_TRUE && value != JsonToken.VALUE_FALSE) {
            throw bad(name, "`" + name + "` must be true or false" + but(value));
        }
        return value == JsonToken.VALUE_TRUE;
    }
}
