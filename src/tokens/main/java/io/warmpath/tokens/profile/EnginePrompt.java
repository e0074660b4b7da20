package io.warmpath.tokens.profile;

/** What an engine makes of a chat, or why that is not known. */
public sealed interface EnginePrompt {
    /**
     * The prompt.
     *
     * @param rendered what the template gave; tokenised without the tokens that a tokenizer adds
     * @param continued text of a last message that the model is to go on with, tokenised on its own
     *     with the tokens that a tokenizer adds, but for its beginning-of-text token; mostly empty
     */
    record Text(String rendered, String continued) implements EnginePrompt {
        public Text(String rendered) {
            this(rendered, "");
        }

        /** All of it. */
        public String whole() {
            return rendered + continued;
        }
    }

    /** The engine refuses it with 400. {@code path}: of the member, {@code messages[0].content}. */
    record Invalid(String path, String message) implements EnginePrompt {}

    /** The engine may take it, but what it makes of it is not known here. */
    record Unpredictable(String why) implements EnginePrompt {}
}
