package io.warmpath.gateway.migration;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.gateway.request.GatewayJson;
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
     * answer by its text. {@code cached}: as the engine has reported; negative: it has not.
     */
    public String usage(int promptTokens, int made, long cached) {
        ObjectNode chunk = chunk();
        chunk.putArray("choices");
        ObjectNode usage =
                chunk.putObject("usage")
                        .put("prompt_tokens", promptTokens)
                        .put("total_tokens", promptTokens + made)
                        .put("completion_tokens", made);
        if (cached >= 0) {
            usage.putObject("prompt_tokens_details").put("cached_tokens", cached);
        }
        return event(chunk);
    }

    /** Says that the answer has become as long as the client allows. */
    public String cutByLength() {
        ObjectNode chunk = chunk();
        ObjectNode choice = chunk.putArray("choices").addObject().put("index", 0);
        if (chat) {
            choice.putObject("delta");
        } else {
            choice.put("text", "");
        }
        choice.put("finish_reason", "length");
        return event(chunk);
    }

    private ObjectNode chunk() {
        ObjectNode chunk = (ObjectNode) GatewayJson.tree(new String(first, StandardCharsets.UTF_8));
        chunk.remove("usage");
        chunk.remove("prompt_token_ids");
        return chunk;
    }

    private static String event(ObjectNode chunk) {
        return "data: " + chunk + "\n\n";
    }
}
