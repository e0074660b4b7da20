package io.warmpath.gateway.migration;

import io.vertx.core.json.JsonObject;

/**
 * The usage of an answer of which another engine has made the first part: the client's own prompt,
 * and what both have made.
 *
 * @param made tokens of the first part
 * @param promptTokens of the request itself; 0 when they are not known
 * @param cachedTokens of them, as the engine of the first part has reported; negative: it has not
 */
public record JoinedUsage(int made, int promptTokens, long cachedTokens) {
    /**
     * Changes what the engine of the last part tells of itself, whose prompt ends with the first
     * part: that it found cached what the client has never sent is nothing to the client.
     *
     * @param chunk of its stream, with usage or without
     */
    void join(JsonObject chunk) {
        if (chunk.getValue("sglext") instanceof JsonObject more) {
            more.remove("cached_tokens_details");
        }
        if (!(chunk.getValue("usage") instanceof JsonObject usage)
                || !(usage.getValue("prompt_tokens") instanceof Number prompt)
                || !(usage.getValue("completion_tokens") instanceof Number completion)) {
            return;
        }
        int own = promptTokens > 0 ? promptTokens : Math.max(0, prompt.intValue() - made);
        int before = Math.max(0, prompt.intValue() - own);
        usage.put("prompt_tokens", own);
        usage.put("completion_tokens", completion.intValue() + before);
        usage.put("total_tokens", own + completion.intValue() + before);
        if (usage.getValue("prompt_tokens_details") instanceof JsonObject) {
            long cached = Math.max(0, Math.min(cachedTokens, own));
            usage.put("prompt_tokens_details", new JsonObject().put("cached_tokens", cached));
        }
    }
}
