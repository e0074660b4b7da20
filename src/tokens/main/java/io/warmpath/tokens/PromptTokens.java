package io.warmpath.tokens;

import io.warmpath.prefix.HashedPrompt;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.Continuation;
import io.warmpath.tokens.template.PromptInput;
import java.util.List;
import java.util.Optional;

/**
 * Prompt to an engine's token ids. {@link #atOnce} never blocks and takes well under 100 µs. {@link
 * #tokens} may take milliseconds and must not run on an event loop. Any thread.
 */
public interface PromptTokens {
    /** What an event loop gets. */
    sealed interface AtOnce {}

    /** {@code ids}: as {@link #tokens} gives them. */
    record Made(Optional<int[]> ids) implements AtOnce {}

    /** The prompt by its blocks: one answer for each block size that was asked for. */
    record Matched(List<HashedPrompt> found) implements AtOnce {}

    /** {@link #tokens} has to be asked, on another thread. */
    enum Later implements AtOnce {
        /** It takes a few milliseconds at most. */
        BRIEF,
        /** It may take longer; nobody else should wait for it. */
        LENGTHY
    }

    /** The prompt's token ids if they are cheap: few characters are new. */
    AtOnce atOnce(String model, PromptInput prompt, EngineProfile engine);

    /**
     * The prompt's token ids, u32 in an int, or empty when they cannot be known (no tokenizer for
     * this model, opaque prompt): the request is then routed by load alone and a counter moves.
     */
    Optional<int[]> tokens(String model, PromptInput prompt, EngineProfile engine);

    /**
     * What an engine makes of this chat when it is to go on with an answer that has begun with
     * {@code said}. Takes as long as rendering the chat twice.
     */
    default Continuation continuation(
            String model, PromptInput chat, String said, EngineProfile engine) {
        return Continuation.UNKNOWN;
    }

    /** As {@link #atOnce}, but {@link Matched} where the ids need not be made for that. */
    default AtOnce atOnce(String model, PromptInput prompt, EngineProfile engine, LookUp lookUp) {
        return atOnce(model, prompt, engine);
    }

    /** As {@link #tokens}: {@link Made}, or {@link Matched} where the ids need not be made. */
    default AtOnce matched(String model, PromptInput prompt, EngineProfile engine, LookUp lookUp) {
        return new Made(tokens(model, prompt, engine));
    }
}
