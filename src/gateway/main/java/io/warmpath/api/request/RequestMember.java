package io.warmpath.api.request;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The top-level members of a request that mean something here. */
enum RequestMember {
    MODEL("model"),
    STREAM("stream"),
    STREAM_OPTIONS("stream_options"),
    MAX_TOKENS("max_tokens"),
    MAX_COMPLETION_TOKENS("max_completion_tokens"),
    N("n"),
    MESSAGES("messages"),
    PROMPT("prompt"),
    CACHE_SALT("cache_salt"),
    ROUTED_DP_RANK("routed_dp_rank"),
    DATA_PARALLEL_RANK("data_parallel_rank"),
    PRIORITY("priority"),
    TEMPERATURE("temperature"),
    NVEXT("nvext"),
    ADD_GENERATION_PROMPT("add_generation_prompt"),
    // These reach a chat's template.
    TOOLS("tools"),
    DOCUMENTS("documents"),
    CHAT_TEMPLATE_KWARGS("chat_template_kwargs"),
    REASONING_EFFORT("reasoning_effort"),
    CONTINUE_FINAL_MESSAGE("continue_final_message"),
    // These change the prompt's tokens, or the cache's name, in ways not known here.
    FUNCTIONS("functions"),
    CHAT_TEMPLATE("chat_template"),
    REASONING("reasoning"),
    ADD_SPECIAL_TOKENS("add_special_tokens"),
    TRUNCATE_PROMPT_TOKENS("truncate_prompt_tokens"),
    MM_PROCESSOR_KWARGS("mm_processor_kwargs"),
    PROMPT_EMBEDS("prompt_embeds"),
    INPUT_EMBEDS("input_embeds"),
    SUFFIX("suffix"),
    LORA_PATH("lora_path"),
    EXTRA_KEY("extra_key");

    private static final RequestMember[][] BY_LENGTH = new RequestMember[32][];

    static {
        Arrays.fill(BY_LENGTH, new RequestMember[0]);
        for (RequestMember m : values()) {
            RequestMember[] same = BY_LENGTH[m.text.length()];
            same = Arrays.copyOf(same, same.length + 1);
            same[same.length - 1] = m;
            BY_LENGTH[m.text.length()] = same;
        }
    }

    private final String text;

    RequestMember(String text) {
        this.text = text;
    }

    String text() {
        return text;
    }

    /** The member's place in a table that does not outlive the process. */
    @SuppressWarnings("EnumOrdinal")
    int index() {
        return ordinal();
    }

    /** Something for a chat's template, unless its value is null, false or empty. */
    boolean isForTemplate() {
        return compareTo(TOOLS) >= 0 && compareTo(FUNCTIONS) < 0;
    }

    /** Makes the prompt's tokens unknown, unless its value is null, false or empty. */
    boolean hidesTokens() {
        return compareTo(FUNCTIONS) >= 0;
    }

    /** Engines tell an empty list from none. */
    boolean emptyListMatters() {
        return this == TOOLS || this == DOCUMENTS;
    }

    /** Its false is not what engines take for granted, for completions. */
    boolean falseMatters() {
        return this == ADD_SPECIAL_TOKENS;
    }

    /** Null for a member that is stepped over. */
    static @Nullable RequestMember of(byte[] b, int from, int to) {
        if (to - from >= BY_LENGTH.length) {
            return null;
        }
        for (RequestMember m : BY_LENGTH[to - from]) {
            if (m.isAt(b, from)) {
                return m;
            }
        }
        return null;
    }

    private boolean isAt(byte[] b, int from) {
        for (int i = 0; i < text.length(); i++) {
            if (b[from + i] != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    static @Nullable RequestMember of(String name) {
        if (name.length() >= BY_LENGTH.length) {
            return null;
        }
        for (RequestMember m : BY_LENGTH[name.length()]) {
            if (m.text.equals(name)) {
                return m;
            }
        }
        return null;
    }
}
