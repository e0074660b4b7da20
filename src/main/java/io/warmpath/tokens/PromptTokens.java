package io.warmpath.tokens;

import io.warmpath.tokens.profile.EngineProfile;
import java.util.Optional;

/**
 * Prompt to an engine's token ids.
 *
 * <p>{@link #isCheap} never blocks. {@link #tokens} may take milliseconds and must not run on an
 * event loop unless the prompt is cheap. Any thread.
 */
public interface PromptTokens {
    /** True when {@link #tokens} takes well under 100 µs for this prompt. */
    boolean isCheap(String model, PromptInput prompt, EngineProfile engine);

    /**
     * The prompt's token ids, u32 in an int, or empty when they cannot be known (no tokenizer for
     * this model, opaque prompt): the request is then routed by load alone and a counter moves.
     */
    Optional<int[]> tokens(String model, PromptInput prompt, EngineProfile engine);
}
