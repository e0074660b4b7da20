package io.warmpath.gateway.migration;

import io.warmpath.fleet.EngineKind;
import io.warmpath.tokens.template.Continuation;
import org.jspecify.annotations.Nullable;

/**
 * The place where a stream's text breaks off, and which engines go on exactly there.
 *
 * <p>A completion's prompt is lengthened by the text on every engine. SGLang puts a chat's text
 * behind the prompt that it makes of the other messages. vLLM has its chat template render the text
 * as a message, so that the template decides.
 *
 * @param chat of {@code /v1/chat/completions}; else of {@code /v1/completions}
 * @param said the text so far; empty: the request is asked anew
 * @param onVllm what vLLM makes of the chat with the text as its last message
 */
public record ContinuationPoint(boolean chat, String said, Continuation onVllm) {
    /**
     * Why this kind of engine would not go on exactly where the text ends.
     *
     * @return null: it would
     */
    public @Nullable WhyNot whyNot(EngineKind kind) {
        return switch (kind) {
            case TRTLLM, OPENAI -> WhyNot.ENGINE_KIND;
            case SGLANG -> null;
            case VLLM -> asksTemplate() ? whyNotOnVllm() : null;
        };
    }

    /** vLLM's template has a say. */
    public boolean asksTemplate() {
        return chat && !said.isEmpty();
    }

    private @Nullable WhyNot whyNotOnVllm() {
        return switch (onVllm) {
            case EXACT -> null;
            case CHANGED -> WhyNot.TEMPLATE;
            // Most templates print a text as it is, or trim it; both are the same for this one.
            case UNKNOWN -> hasBlankEnd() ? WhyNot.WHITE_SPACE : null;
        };
    }

    private boolean hasBlankEnd() {
        return Character.isWhitespace(said.charAt(0))
                || Character.isWhitespace(said.charAt(said.length() - 1));
    }
}
