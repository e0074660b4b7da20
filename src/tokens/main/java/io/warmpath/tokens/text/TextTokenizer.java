package io.warmpath.tokens.text;

import java.util.Optional;

/**
 * Text to the token ids of one model. {@link #encode} may be called by any number of threads at
 * once; it costs microseconds per hundred characters and must not run on an event loop unless the
 * text is known to be short. After {@link #close} it throws.
 */
public interface TextTokenizer extends AutoCloseable {
    /**
     * The ids of the text, u32 in an int. Special tokens written out in the text become their ids.
     *
     * @param addSpecialTokens also add what the model puts around a raw prompt (its
     *     beginning-of-text token, mostly). Engines do so for {@code /v1/completions} and not for
     *     rendered chats.
     * @throws UnencodableTextException when the text is not well-formed Unicode
     */
    int[] encode(String text, boolean addSpecialTokens);

    /**
     * The text of the ids, special tokens included, as the reference gives it: bytes that are no
     * character become U+FFFD, an id that is no token has no text. Empty when this tokenizer cannot
     * go that way.
     */
    default Optional<String> decode(int[] ids) {
        return Optional.empty();
    }

    /**
     * What a character costs, about and rather too much, in nanoseconds: it decides where a prompt
     * is tokenised.
     */
    default int nanosPerChar() {
        return 300;
    }

    @Override
    void close();
}
