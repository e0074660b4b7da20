package io.warmpath.gateway.migration;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;

/**
 * The last events of a stream whose engine failed when only they were missing, in the form of the
 * stream's others.
 *
 * @param first data of the stream's first event
 * @param chat the client reads a chat, not a completion
 */
public record LastChunks(byte[] first, boolean chat) {
    /**
     * What the engine would have counted, as far as it can be counted here: the prompt exactly, the
     * answer by its text.
     *
     * @param cached as the engine has reported; negative: it has not
     */
    public String usage(int promptTokens, int made, long cached) {
        JsonObject usage =
                new JsonObject()
                        .put("prompt_tokens", promptTokens)
                        .put("total_tokens", promptTokens + made)
                        .put("completion_tokens", made);
        if (cached >= 0) {
            usage.put("prompt_tokens_details", new JsonObject().put("cached_tokens", cached));
        }
        return event(chunk(new JsonArray()).put("usage", usage));
    }

    /** Says that the answer has become as long as the client allows. */
    public String cutByLength() {
        JsonObject choice = new JsonObject().put("index", 0);
        if (chat) {
            choice.put("delta", new JsonObject());
        } else {
            choice.put("text", "");
        }
        return event(chunk(new JsonArray().add(choice.put("finish_reason", "length"))));
    }

    private JsonObject chunk(JsonArray choices) {
        JsonObject chunk = new JsonObject(new String(first, StandardCharsets.UTF_8));
        chunk.remove("usage");
        chunk.remove("prompt_token_ids");
        return chunk.put("choices", choices);
    }

    private static String event(JsonObject chunk) {
        return "data: " + chunk.encode() + "\n\n";
    }
}
