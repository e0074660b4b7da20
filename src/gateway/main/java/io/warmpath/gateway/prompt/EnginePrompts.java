package io.warmpath.gateway.prompt;

import io.warmpath.fleet.EngineKind;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.PromptKnown;
import io.warmpath.routing.SharedView;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.TextChunks;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A prompt as each kind of engine sees it: one for all where they agree, as nearly always. A kind
 * for which it is not known has an empty one. Immutable, but for what {@link PromptContent} says of
 * itself.
 */
public final class EnginePrompts {
    /** No kind's is known, but somebody may be asked. */
    static final EnginePrompts UNKNOWN = same(PromptContent.UNKNOWN);

    private final PromptContent vllm;
    private final PromptContent sglang;
    private final PromptContent other;
    private final @Nullable SharedView shared;
    private final PromptKnown known;
    private final List<EnginePrompts> several;
    private final @Nullable NotExact whyNothing;

    private EnginePrompts(
            PromptContent vllm,
            PromptContent sglang,
            PromptContent other,
            @Nullable SharedView shared,
            PromptKnown known) {
        this(vllm, sglang, other, shared, known, List.of(), null);
    }

    private EnginePrompts(
            PromptContent vllm,
            PromptContent sglang,
            PromptContent other,
            @Nullable SharedView shared,
            PromptKnown known,
            List<EnginePrompts> several,
            @Nullable NotExact whyNothing) {
        this.known = known;
        this.several = several;
        this.whyNothing = whyNothing;
        this.vllm = vllm;
        this.sglang = sglang;
        this.other = other;
        this.shared = shared;
    }

    static EnginePrompts same(PromptContent prompt) {
        return new EnginePrompts(prompt, prompt, prompt, null, PromptKnown.TOKENS);
    }

    /** Nothing is known, for this reason. */
    static EnginePrompts nothing(NotExact why) {
        PromptContent none = PromptContent.UNKNOWN;
        return new EnginePrompts(none, none, none, null, PromptKnown.TOKENS, List.of(), why);
    }

    /** Several prompts of one request, each the same for all kinds; together they have a length. */
    static EnginePrompts of(List<EnginePrompts> several) {
        long tokens = 0;
        for (EnginePrompts one : several) {
            tokens += one.length();
        }
        PromptContent all = PromptContent.counted((int) Math.min(Integer.MAX_VALUE, tokens));
        return new EnginePrompts(
                all, all, all, null, PromptKnown.TOKENS, List.copyOf(several), null);
    }

    /** A prompt that nobody reads, of a request of so many bytes. */
    static EnginePrompts unread(int bytes) {
        PromptContent prompt = PromptContent.counted(TextChunks.guess(bytes));
        return new EnginePrompts(prompt, prompt, prompt, null, PromptKnown.LENGTH);
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

    /** Its text or its length alone is known. */
    public boolean isGuess() {
        return known.isGuess();
    }

    /** It is several prompts. */
    public boolean isSeveral() {
        return !several.isEmpty();
    }

    /** Each of several prompts, in the request's order; empty: it is one. */
    public List<EnginePrompts> several() {
        return several;
    }

    /** Null: something is known, or may become known. */
    @Nullable NotExact whyNothing() {
        return whyNothing;
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
            case TRTLLM, OPENAI -> other;
        };
    }

    /** Of the longest, in tokens; where only its text is known, a guess. */
    public int length() {
        return Math.max(vllm.length(), Math.max(sglang.length(), other.length()));
    }
}
