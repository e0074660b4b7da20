package io.warmpath.gateway.prompt;

import io.warmpath.fleet.EngineKind;
import io.warmpath.routing.PromptKnown;
import io.warmpath.routing.SharedView;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.TextChunks;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A prompt as each kind of engine sees it: one for all where they agree, as nearly always. A kind
 * for which it is not known has an empty one.
 *
 * <p>Immutable, but for what {@link PromptContent} says of itself.
 */
public final class EnginePrompts {
    /** No kind's is known, but somebody may be asked. */
    static final EnginePrompts UNKNOWN = same(PromptContent.UNKNOWN);

    private final PromptContent vllm;
    private final PromptContent sglang;
    private final PromptContent other;
    private final @Nullable SharedView shared;
    private final PromptKnown known;

    private EnginePrompts(
            PromptContent vllm,
            PromptContent sglang,
            PromptContent other,
            @Nullable SharedView shared,
            PromptKnown known) {
        this.known = known;
        this.vllm = vllm;
        this.sglang = sglang;
        this.other = other;
        this.shared = shared;
    }

    static EnginePrompts same(PromptContent prompt) {
        return new EnginePrompts(prompt, prompt, prompt, null, PromptKnown.TOKENS);
    }

    /** A prompt of which only its text is known. */
    static EnginePrompts of(TextChunks text) {
        PromptContent prompt = PromptContent.of(text);
        return new EnginePrompts(prompt, prompt, prompt, null, PromptKnown.TEXT);
    }

    /** One for each kind that is asked for; those that agree become one. */
    static EnginePrompts of(Map<EngineProfile, PromptContent> prompts) {
        PromptContent first = prompts.values().iterator().next();
        if (prompts.values().stream().allMatch(first::isLike)) {
            return same(first);
        }
        return new EnginePrompts(
                prompts.getOrDefault(EngineProfile.VLLM, PromptContent.UNKNOWN),
                prompts.getOrDefault(EngineProfile.SGLANG, PromptContent.UNKNOWN),
                prompts.getOrDefault(EngineProfile.ANY, PromptContent.UNKNOWN),
                null,
                PromptKnown.TOKENS);
    }

    /** The same prompt, and what pools hold of it. */
    EnginePrompts with(SharedView pools) {
        return new EnginePrompts(vllm, sglang, other, pools, known);
    }

    /** The same, as engines have answered. */
    EnginePrompts asked() {
        return new EnginePrompts(vllm, sglang, other, shared, PromptKnown.ASKED);
    }

    /** What is known of it. */
    public PromptKnown known() {
        return known;
    }

    /** Its text alone is known. */
    public boolean isText() {
        return known == PromptKnown.TEXT;
    }

    /** What pools hold of it; null: none was asked. */
    public @Nullable SharedView shared() {
        return shared;
    }

    /** All kinds have the same. */
    public boolean isOne() {
        return vllm == sglang && sglang == other;
    }

    public PromptContent of(EngineKind kind) {
        return switch (kind) {
            case VLLM -> vllm;
            case SGLANG -> sglang;
            case OPENAI -> other;
        };
    }

    /** Of the longest, in tokens; where only its text is known, a guess. */
    public int length() {
        return Math.max(vllm.length(), Math.max(sglang.length(), other.length()));
    }
}
