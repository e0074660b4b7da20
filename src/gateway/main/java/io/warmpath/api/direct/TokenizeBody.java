package io.warmpath.api.direct;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.warmpath.api.json.JsonInput;
import io.warmpath.api.json.TokenIds;
import io.warmpath.net.HeapBytes;
import io.warmpath.tokens.profile.EngineProfile;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A body of {@code /tokenize} or {@code /detokenize}; of a chat for an engine only what is of use
 * here. One thread.
 */
final class TokenizeBody {
    @Nullable String model;
    @Nullable String prompt;
    boolean messages;
    @Nullable EngineProfile engine;
    @Nullable Boolean addSpecialTokens;
    boolean returnText;
    int @Nullable [] tokens;

    private TokenizeBody() {}

    /** Members that are not known are stepped over: bodies for engines work here too. */
    static TokenizeBody read(HeapBytes bytes) {
        return JsonInput.body(
                bytes,
                json -> {
                    if (json.nextToken() != JsonToken.START_OBJECT) {
                        throw bad("", "The request body must be a JSON object.");
                    }
                    TokenizeBody body = new TokenizeBody();
                    for (String name = json.nextFieldName();
                            name != null;
                            name = json.nextFieldName()) {
                        JsonToken value = json.nextToken();
                        if (value != JsonToken.VALUE_NULL) {
                            body.member(name, value, json);
                        }
                    }
                    if (json.nextToken() != null) {
                        throw bad("", "The request body has something behind the JSON object.");
                    }
                    return body;
                });
    }

    private void member(String name, JsonToken value, JsonParser json) throws IOException {
        switch (name) {
            case "model" -> model = text(name, value, json);
            case "prompt" -> prompt = text(name, value, json);
            case "messages" -> {
                messages = true;
                json.skipChildren();
            }
            case "engine" ->
                    engine =
                            switch (text(name, value, json)) {
                                case "vllm" -> EngineProfile.VLLM;
                                case "sglang" -> EngineProfile.SGLANG;
                                case "none" -> EngineProfile.NONE;
                                default ->
                                        throw bad(
                                                name,
                                                "`engine` must be \"vllm\", \"sglang\" or"
                                                        + " \"none\".");
                            };
            case "add_special_tokens" -> addSpecialTokens = flag(name, value);
            case "return_text" -> returnText = flag(name, value);
            case "tokens" -> {
                if (value != JsonToken.START_ARRAY) {
                    throw bad(name, "`tokens` must be an array of token ids" + but(value));
                }
                json.nextToken();
                tokens = TokenIds.read(name, json);
            }
            default -> json.skipChildren();
        }
    }

    private static String text(String name, JsonToken value, JsonParser json) throws IOException {
        if (value != JsonToken.VALUE_STRING) {
            throw bad(name, "`" + name + "` must be a string" + but(value));
        }
        return json.getText();
    }

    private static boolean flag(String name, JsonToken value) {
        if (value != JsonToken.VALUE_TRUE && value != JsonToken.VALUE_FALSE) {
            throw bad(name, "`" + name + "` must be true or false" + but(value));
        }
        return value == JsonToken.VALUE_TRUE;
    }
}
