package io.warmpath.api.messages;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.api.json.JsonInput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one answer, or one event of a streamed one, of {@code /v1/chat/completions} says. Of its
 * choices only the first counts. Read in one pass, without a tree. One thread.
 */
final class ChatChunk {
    /**
     * A call, or a piece of one.
     *
     * @param index of the call in its message; in a whole answer, which has none, its place
     */
    record Call(int index, @Nullable String id, @Nullable String name, String arguments) {}

    private @Nullable String id;
    private String text = "";
    private String thinking = "";
    private final List<Call> calls = new ArrayList<>(0);
    private @Nullable String finish;
    private @Nullable String stop;
    private @Nullable String error;
    private boolean choice;
    private boolean failed;
    private long promptTokens = -1;
    private long completionTokens = -1;
    private long cachedTokens = -1;

    private ChatChunk() {}

    /** Throws {@link IOException} when it is not a JSON object. */
    static ChatChunk read(byte[] b, int from, int to) throws IOException {
        try (JsonParser json = JsonInput.parser(b, from, to - from)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new IOException("not an object");
            }
            ChatChunk chunk = new ChatChunk();
            chunk.top(json);
            return chunk;
        }
    }

    /** The engine's name for this answer. */
    @Nullable String id() {
        return id;
    }

    String text() {
        return text;
    }

    String thinking() {
        return thinking;
    }

    List<Call> calls() {
        return calls;
    }

    /** Why the answer ends, in OpenAI's words. */
    @Nullable String finish() {
        return finish;
    }

    /** The stop text that was met, where the engine tells it. */
    @Nullable String stop() {
        return stop;
    }

    /** It holds a choice. */
    boolean hasChoice() {
        return choice;
    }

    boolean failed() {
        return failed;
    }

    /** The message of the error; null when there is none. */
    @Nullable String error() {
        return error;
    }

    /** -1 when it is not said, as the next two. */
    long promptTokens() {
        return promptTokens;
    }

    long completionTokens() {
        return completionTokens;
    }

    long cachedTokens() {
        return cachedTokens;
    }

    private void top(JsonParser json) throws IOException {
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            switch (name) {
                case "id" -> id = text(json, value);
                case "choices" -> choices(json, value);
                case "usage" -> usage(json, value);
                case "error" -> error(json, value);
                case "message", "detail" -> { // errors of older engines, at the top
                    String said = text(json, value);
                    error = error == null ? said : error;
                }
                default -> json.skipChildren();
            }
        }
    }

    private void error(JsonParser json, JsonToken value) throws IOException {
        failed = value != JsonToken.VALUE_NULL;
        if (value != JsonToken.START_OBJECT) {
            error = text(json, value);
            return;
        }
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken member = json.nextToken();
            if (name.equals("message")) {
                error = text(json, member);
            } else {
                json.skipChildren();
            }
        }
    }

    private void choices(JsonParser json, JsonToken value) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            json.skipChildren();
            return;
        }
        boolean first = true;
        for (JsonToken t = json.nextToken(); t != JsonToken.END_ARRAY; t = json.nextToken()) {
            if (first && t == JsonToken.START_OBJECT) {
                choice = true;
                first = false;
                choice(json);
            } else if (t == null) {
                throw new IOException("unexpected end of input");
            } else {
                json.skipChildren();
            }
        }
    }

    private void choice(JsonParser json) throws IOException {
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            switch (name) {
                case "delta", "message" -> {
                    if (value == JsonToken.START_OBJECT) {
                        message(json);
                    }
                }
                case "finish_reason" -> finish = text(json, value);
                // vLLM's and SGLang's name; a number where it was a token.
                case "stop_reason", "matched_stop" -> {
                    String met = text(json, value);
                    stop = met == null ? stop : met;
                }
                default -> json.skipChildren();
            }
        }
    }

    private void message(JsonParser json) throws IOException {
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            switch (name) {
                case "content" -> text = orEmpty(text(json, value));
                // A refusal is said in words, in place of the content.
                case "refusal" -> text = text.isEmpty() ? orEmpty(text(json, value)) : text;
                // vLLM has renamed the one to the other, and for a time sends both.
                case "reasoning_content", "reasoning" -> {
                    String thought = orEmpty(text(json, value));
                    thinking = thought.isEmpty() ? thinking : thought;
                }
                case "tool_calls" -> calls(json, value);
                default -> json.skipChildren();
            }
        }
    }

    private void calls(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.START_ARRAY) {
            while (json.nextToken() == JsonToken.START_OBJECT) {
                calls.add(call(json, calls.size()));
            }
        } else {
            json.skipChildren();
        }
    }

    private static Call call(JsonParser json, int place) throws IOException {
        int index = place;
        String id = null;
        String function = null;
        String arguments = "";
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            switch (name) {
                case "index" -> {
                    if (value == JsonToken.VALUE_NUMBER_INT) {
                        index = json.getIntValue();
                    }
                }
                case "id" -> id = text(json, value);
                case "function" -> {
                    if (value == JsonToken.START_OBJECT) {
                        for (String n = json.nextFieldName(); n != null; n = json.nextFieldName()) {
                            JsonToken v = json.nextToken();
                            switch (n) {
                                case "name" -> function = text(json, v);
                                case "arguments" -> arguments = orEmpty(text(json, v));
                                default -> json.skipChildren();
                            }
                        }
                    }
                }
                default -> json.skipChildren();
            }
        }
        return new Call(index, id, function, arguments);
    }

    private void usage(JsonParser json, JsonToken value) throws IOException {
        if (value != JsonToken.START_OBJECT) {
            json.skipChildren();
            return;
        }
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken member = json.nextToken();
            switch (name) {
                case "prompt_tokens" -> promptTokens = number(json, member);
                case "completion_tokens" -> completionTokens = number(json, member);
                case "cached_tokens" -> cachedTokens = number(json, member);
                case "prompt_tokens_details" -> usage(json, member);
                default -> json.skipChildren();
            }
        }
    }

    private static long number(JsonParser json, JsonToken value) throws IOException {
        json.skipChildren();
        return value == JsonToken.VALUE_NUMBER_INT ? Math.max(-1, json.getLongValue()) : -1;
    }

    private static @Nullable String text(JsonParser json, JsonToken value) throws IOException {
        json.skipChildren();
        return value == JsonToken.VALUE_STRING ? json.getText() : null;
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
