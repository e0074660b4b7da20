package io.warmpath.gateway.migration;

import com.fasterxml.jackson.databind.node.NumericNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

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
    void join(ObjectNode chunk) {
        if (chunk.path("sglext") instanceof ObjectNode more) {
            more.remove("cached_tokens_details");
        }
        if (!(chunk.path("usage") instanceof ObjectNode usage)
                || !(usage.path("prompt_tokens") instanceof NumericNode prompt)
                || !(usage.path("completion_tokens") instanceof NumericNode completion)) {
            return;
        }
        int own = promptTokens > 0 ? promptTokens : Math.max(0, prompt.intValue() - made);
        int before = Math.max(0, prompt.intValue() - own);
        usage.put("prompt_tokens", own);
        usage.put("completion_tokens", completion.intValue() + before);
        usage.put("total_tokens", own + completion.intValue() + before);
        if (usage.path("prompt_tokens_details").isObject()) {
            long cached = Math.max(0, Math.min(cachedTokens, own));
            usage.putObject("prompt_tokens_details").put("cached_tokens", cached);
        }
    }
}
