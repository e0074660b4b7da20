package io.warmpath.tokens.template;

import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.profile.Placeholders;

/**
 * Chats to the text that an engine tokenises. Stateless; any thread. What is not sure to be the
 * engine's exact text is no text: wrong tokens would look like a cold cache for ever.
 */
public interface ChatTemplate {
    /** For a chat of roles and texts alone. */
    EnginePrompt render(PromptInput.Chat chat, EngineProfile engine);

    /** For any chat. */
    EnginePrompt render(ChatRequest chat, EngineProfile engine);

    /**
     * What the engine makes of a chat when it is to go on with an answer that has begun with {@code
     * said}. Renders the chat twice.
     */
    default Continuation continuation(ChatRequest chat, String said, EngineProfile engine) {
        return Continuation.of(
                render(chat, engine), render(chat.continuedWith(said), engine), said);
    }

    /** As {@link #continuation(ChatRequest, String, EngineProfile)}. */
    default Continuation continuation(PromptInput.Chat chat, String said, EngineProfile engine) {
        return continuation(chat.request(), said, engine);
    }

    /** What the model's template prints for media. */
    default Placeholders placeholders() {
        return Placeholders.NONE;
    }

    /** Whether rendering so many messages takes so little that an event loop may do it. */
    default boolean isQuick(int messages) {
        return true;
    }
}
