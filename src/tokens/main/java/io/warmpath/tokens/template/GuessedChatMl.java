package io.warmpath.tokens.template;

import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;

/**
 * For a model whose template is not there and whose tokens look like ChatML: plain chats only,
 * because nobody knows what its template makes of tools.
 */
public final class GuessedChatMl implements ChatTemplate {
    @Override
    public EnginePrompt render(PromptInput.Chat chat, EngineProfile engine) {
        return ChatMlTemplate.PLAIN.render(chat, engine);
    }

    /** By its form: a message's text stands in it as it is, behind what opens every answer. */
    @Override
    public Continuation continuation(PromptInput.Chat chat, String said, EngineProfile engine) {
        return chat.addGenerationPrompt() && render(chat, engine) instanceof EnginePrompt.Text
                ? Continuation.EXACT
                : Continuation.UNKNOWN;
    }

    @Override
    public Continuation continuation(ChatRequest chat, String said, EngineProfile engine) {
        return Continuation.UNKNOWN;
    }

    @Override
    public EnginePrompt render(ChatRequest chat, EngineProfile engine) {
        return new EnginePrompt.Unpredictable("the model's own template is not known");
    }
}
