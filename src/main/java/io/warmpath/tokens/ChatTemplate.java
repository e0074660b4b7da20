package io.warmpath.tokens;

import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;

/**
 * Chats to the text that an engine tokenises.
 *
 * <p>Stateless; any thread. What is not sure to be the engine's exact text is no text: wrong tokens
 * would look like a cold cache for ever.
 */
public interface ChatTemplate {
    /** For a chat of roles and texts alone. */
    EnginePrompt render(PromptInput.Chat chat, EngineProfile engine);

    /** For any chat. */
    EnginePrompt render(ChatRequest chat, EngineProfile engine);

    /** Whether rendering so many messages takes so little that an event loop may do it. */
    default boolean isQuick(int messages) {
        return true;
    }
}
