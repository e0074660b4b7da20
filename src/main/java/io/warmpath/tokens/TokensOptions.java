package io.warmpath.tokens;

/**
 * Limits of {@link ModelTokens}.
 *
 * @param cacheBytes memory for remembered pieces of text, shared out evenly over the tokenizers; 0:
 *     nothing is remembered
 * @param maxPromptChars a longer prompt is routed without tokens; it would not fit an engine's
 *     context either
 * @param inlineNewChars a prompt is cheap when at most this many of its characters have to be
 *     tokenised anew
 * @param inlineChars a prompt is cheap only up to this length
 */
public record TokensOptions(
        long cacheBytes, int maxPromptChars, int inlineNewChars, int inlineChars) {

    public static final TokensOptions DEFAULT =
            new TokensOptions(64L << 20, 8 << 20, 128, 32 << 10);

    public TokensOptions {
        if (cacheBytes < 0 || maxPromptChars < 1 || inlineNewChars < 0 || inlineChars < 0) {
            throw new IllegalArgumentException("a limit of the tokenizer is negative");
        }
    }
}
