package io.warmpath.api.inference;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What SGLang's {@code /generate} says of an answer beside its text and ids: {@code meta_info}, the
 * newest value of each. One per attempt, on its event loop.
 */
final class GenerateMeta {
    String id = "";

    /** Why the answer ended; null: it goes on. */
    @Nullable String finish;

    /** What the engine says of an answer that it broke off, and the status it means. */
    String abort = "";

    int abortStatus = 400;

    // -1: not said
    long promptTokens = -1;
    long completionTokens = -1;
    long cachedTokens = -1;

    /** The current token is the start of the object {@code meta_info}. */
    void read(JsonParser json) throws IOException {
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            switch (name) {
                case "id" -> id = json.getText();
                case "prompt_tokens" -> promptTokens = json.getLongValue();
                case "completion_tokens" -> completionTokens = json.getLongValue();
                case "cached_tokens" -> cachedTokens = json.getLongValue();
                case "finish_reason" -> finish(json, value);
                default -> json.skipChildren();
            }
        }
    }

    private void finish(JsonParser json, JsonToken value) throws IOException {
        if (value != JsonToken.START_OBJECT) {
            return;
        }
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            json.nextToken();
            switch (name) {
                case "type" -> finish = json.getText();
                case "message" -> abort = json.getValueAsString("");
                case "status_code" -> abortStatus = json.getValueAsInt(400);
                default -> json.skipChildren();
            }
        }
    }
}
