package io.warmpath.tokens;

import io.warmpath.tokens.text.TextTokenizer;

/**
 * Limits of {@link ModelTokens}.
 *
 * @param cacheBytes memory for remembered pieces of text, shared out evenly over the tokenizers; 0:
 *     nothing is remembered
 * @param maxPromptChars a longer prompt is routed without tokens; it would not fit an engine's
 *     context either
 * @param inlineNanos an event loop tokenises at most this much text that is new, by the tokenizer's
 *     own measure ({@link TextTokenizer#nanosPerChar})
 * @param inlineChars and looks up what is known in prompts up to this length
 */
public record TokensOptions(long cacheBytes, int maxPromptChars, int inlineNanos, int inlineChars) {

    public static final TokensOptions DEFAULT =
            new TokensOptions(64L << 20, 8 << 20, 40_000, 32 << 10);

    public TokensOptions {
        if (cacheBytes < 0 || maxPromptChars < 1 || inlineNanos < 0 || inlineChars < 0) {
            throw new IllegalArgumentException("a limit of the tokenizer is negative");
        }
    }
}
