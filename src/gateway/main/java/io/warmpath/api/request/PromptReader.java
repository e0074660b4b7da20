package io.warmpath.api.request;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.api.json.TokenIds;
import io.warmpath.tokens.template.PromptInput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code messages} and {@code prompt} to {@link PromptInput}. Of chats with more than roles and
 * texts (tool calls, names, several parts) only the form is checked here; they are read once more,
 * off the event loop, when their tokens are wanted.
 */
record PromptReader(JsonParser json, RequestFields fields) {
    /** Of one request; each is tokenised and looked up. */
    static final int MOST_PROMPTS = 256;

    void messages(JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NULL) {
            fields.messages = null;
            return;
        }
        if (value != JsonToken.START_ARRAY) {
            throw bad("messages", "`messages` must be an array" + but(value));
        }
        List<PromptInput.Message> read = new ArrayList<>();
        fields.opaqueMessages = null;
        for (JsonToken t = json.nextToken(); t != JsonToken.END_ARRAY; t = json.nextToken()) {
            message(t, read);
        }
        if (read.isEmpty()) {
            throw bad("messages", "`messages` must not be empty.");
        }
        fields.messages = read;
    }

    private void message(JsonToken value, List<PromptInput.Message> into) throws IOException {
        String at = "messages[" + into.size() + "]";
        if (value != JsonToken.START_OBJECT) {
            throw bad(at, "`" + at + "` must be an object" + but(value));
        }
        String role = null;
        String content = null;
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken member = json.nextToken();
            switch (name) {
                case "role" -> {
                    if (member != JsonToken.VALUE_STRING) {
                        throw bad(at + ".role", "`" + at + ".role` must be a string" + but(member));
                    }
                    role = json.getText();
                }
                case "content" -> content = content(at, member);
                default -> {
                    if (member != JsonToken.VALUE_NULL) {
                        fields.opaqueMessages = "message with " + name;
                    }
                    json.skipChildren();
                }
            }
        }
        if (role == null) {
            throw bad(at + ".role", "`" + at + "` has no role.");
        }
        if (content == null && fields.opaqueMessages == null) {
            fields.opaqueMessages = "message without text";
        }
        into.add(new PromptInput.Message(role, content == null ? "" : content));
    }

    private @Nullable String content(String at, JsonToken value) throws IOException {
        switch (value) {
            case VALUE_STRING -> {
                return json.getText();
            }
            case VALUE_NULL -> {
                return null;
            }
            case START_ARRAY -> {
                parts(at);
                return null;
            }
            default ->
                    throw bad(
                            at + ".content",
                            "`" + at + ".content` must be text or an array of parts" + but(value));
        }
    }

    /** Steps over them: what they become is different on each engine. */
    private void parts(String at) throws IOException {
        for (JsonToken t = json.nextToken(); t != JsonToken.END_ARRAY; t = json.nextToken()) {
            if (t != JsonToken.START_OBJECT) {
                throw bad(at + ".content", "`" + at + ".content` has a part that is no object.");
            }
            json.skipChildren();
        }
        fields.opaqueMessages = "content parts";
    }

    void prompt(JsonToken value) throws IOException {
        fields.prompt =
                switch (value) {
                    case VALUE_STRING -> new PromptInput.Text(json.getText());
                    case VALUE_NULL -> null;
                    case START_ARRAY -> list("prompt");
                    default ->
                            throw bad("prompt", "`prompt` must be text or an array" + but(value));
                };
        if (fields.prompt == null && value == JsonToken.START_ARRAY) {
            throw bad("prompt", "`prompt` must hold texts or token ids.");
        }
    }

    /** {@code input} of embeddings; what is neither texts nor ids stays unread. */
    void input(JsonToken value) throws IOException {
        fields.prompt =
                switch (value) {
                    case VALUE_STRING -> new PromptInput.Text(json.getText());
                    case START_ARRAY -> list("input");
                    default -> {
                        json.skipChildren();
                        yield null;
                    }
                };
    }

    /**
     * Texts, ids or lists of ids; the current token is the array's start.
     *
     * @return null when it begins with something else, or is empty
     */
    private @Nullable PromptInput list(String name) throws IOException {
        JsonToken first = json.nextToken();
        if (first == JsonToken.VALUE_NUMBER_INT) {
            return new PromptInput.Ids(TokenIds.read(name, json));
        }
        List<PromptInput> all = new ArrayList<>(1);
        int others = 0;
        for (JsonToken t = first; t != JsonToken.END_ARRAY; t = json.nextToken()) {
            if (t == JsonToken.VALUE_STRING && all.size() < MOST_PROMPTS) {
                all.add(new PromptInput.Text(json.getText()));
            } else if (t == JsonToken.START_ARRAY && all.size() < MOST_PROMPTS) {
                json.nextToken();
                all.add(new PromptInput.Ids(TokenIds.read(name + "[" + all.size() + "]", json)));
            } else if (t == null) {
                throw new IOException("unexpected end of input");
            } else {
                others++;
                json.skipChildren();
            }
        }
        if (all.isEmpty()) {
            return null;
        }
        if (others > 0) {
            return new PromptInput.Opaque("more prompts than are looked at, or others");
        }
        return all.size() == 1 ? all.getFirst() : new PromptInput.Several(all);
    }
}
