package io.warmpath.tokens;

import java.util.List;

/**
 * Messages to the text that the engine tokenises.
 *
 * <p>Stateless; any thread. A template that is not sure to give the engine's exact text refuses:
 * wrong tokens would look like a cold cache for ever.
 */
public interface ChatTemplate {
    Rendering render(List<PromptInput.Message> messages, boolean addGenerationPrompt);

    /** Whether rendering takes so little that an event loop may do it. */
    default boolean isQuick(List<PromptInput.Message> messages) {
        return true;
    }

    /** A text, or why there is none. */
    sealed interface Rendering {}

    record Rendered(String text) implements Rendering {}

    record Refused(String why) implements Rendering {}
}
