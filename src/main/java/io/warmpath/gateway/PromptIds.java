package io.warmpath.gateway;

import io.warmpath.fleet.EngineKind;
import io.warmpath.tokens.profile.EngineProfile;
import java.util.Arrays;
import java.util.Map;

/**
 * A prompt's token ids on each kind of engine: one list where they agree, as nearly always. A kind
 * whose ids are not known has none.
 *
 * <p>Immutable as long as nobody writes to the arrays, which are not copied.
 */
final class PromptIds {
    static final int[] NONE = {};

    /** No kind's are known, but somebody may be asked. */
    static final PromptIds UNKNOWN = same(NONE);

    private final int[] vllm;
    private final int[] sglang;
    private final int[] other;

    private PromptIds(int[] vllm, int[] sglang, int[] other) {
        this.vllm = vllm;
        this.sglang = sglang;
        this.other = other;
    }

    static PromptIds same(int[] ids) {
        return new PromptIds(ids, ids, ids);
    }

    /** One list for each kind that is asked for; those that agree become one. */
    static PromptIds of(Map<EngineProfile, int[]> lists) {
        int[] first = lists.values().iterator().next();
        if (lists.values().stream().allMatch(ids -> Arrays.equals(ids, first))) {
            return same(first);
        }
        return new PromptIds(
                lists.getOrDefault(EngineProfile.VLLM, NONE),
                lists.getOrDefault(EngineProfile.SGLANG, NONE),
                lists.getOrDefault(EngineProfile.ANY, NONE));
    }

    /** All kinds have the same. */
    boolean isOne() {
        return vllm == sglang && sglang == other;
    }

    /** Empty when they are not known. */
    int[] of(EngineKind kind) {
        return switch (kind) {
            case VLLM -> vllm;
            case SGLANG -> sglang;
            case OPENAI -> other;
        };
    }

    /** Of the longest list. */
    int length() {
        return Math.max(vllm.length, Math.max(sglang.length, other.length));
    }
}
