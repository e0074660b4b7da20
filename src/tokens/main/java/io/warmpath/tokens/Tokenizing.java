package io.warmpath.tokens;

import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.PromptInput;
import org.jspecify.annotations.Nullable;

/**
 * Prompts to ids and back for those who ask for just that; says why there is no answer. Takes
 * milliseconds; not on an event loop.
 */
public interface Tokenizing {
    /** Ids with their text, or why there are none. */
    sealed interface Answer {}

    record Tokens(int[] ids, String text) implements Answer {}

    /** The model has no tokenizer here. */
    record NoTokenizer() implements Answer {}

    /** The prompt is at fault. {@code path}: of the member. */
    record Refused(String path, String message) implements Answer {}

    /**
     * @param prompt a text or a chat
     * @param addSpecialTokens null: as engines do by default, for a text and not for a chat
     */
    Answer tokenize(
            String model,
            PromptInput prompt,
            EngineProfile engine,
            @Nullable Boolean addSpecialTokens);

    /** The text of the ids, special tokens included. */
    Answer detokenize(String model, int[] ids);
}
