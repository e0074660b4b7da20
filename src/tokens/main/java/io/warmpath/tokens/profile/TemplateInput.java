package io.warmpath.tokens.profile;

import io.warmpath.tokens.jinja.HuggingFaceChat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an engine makes of a request.
 *
 * @param chat what the template gets
 * @param continued a last message's text that the engine took off; its ids follow those of the
 *     rendered text
 * @param bareTools the tools of a second try, when the template fails on the first; null: no other
 */
record TemplateInput(
        HuggingFaceChat chat,
        String continued,
        @Nullable List<? extends @Nullable Object> bareTools) {

    HuggingFaceChat secondTry() {
        return new HuggingFaceChat(
                chat.messages(),
                bareTools,
                chat.documents(),
                chat.addGenerationPrompt(),
                chat.continueFinalMessage(),
                chat.arguments());
    }
}
