package io.warmpath.sim;

import com.fasterxml.jackson.databind.JsonNode;

/** How an engine's template writes a chat: the text that is tokenised. Stateless. */
@FunctionalInterface
public interface ChatText {
    /** {@code request}: body of {@code /v1/chat/completions}. */
    String of(JsonNode request);
}
