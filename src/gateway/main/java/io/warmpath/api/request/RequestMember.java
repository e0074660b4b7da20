package io.warmpath.api.request;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The top-level members of a request that mean something here, by what they mean. */
enum RequestMember {
    MODEL("model"),
    STREAM("stream"),
    STREAM_OPTIONS("stream_options"),
    MAX_TOKENS("max_tokens"),
    MAX_COMPLETION_TOKENS("max_completion_tokens"),
    MIN_TOKENS("min_tokens"),
    N("n"),
    ECHO("echo"),
    LOGPROBS("logprobs"),
    PROMPT_LOGPROBS("prompt_logprobs"),
    MESSAGES("messages"),
    PROMPT("prompt"),
    INPUT("input"),
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
    EXTRA_KEY("extra_key"),
    // These, and the two above, act on the engine or on other requests (EngineFields).
    KV_TRANSFER_PARAMS("kv_transfer_params"),
    EC_TRANSFER_PARAMS("ec_transfer_params"),
    BOOTSTRAP_HOST("bootstrap_host"),
    BOOTSTRAP_PORT("bootstrap_port"),
    BOOTSTRAP_ROOM("bootstrap_room"),
    BOOTSTRAP_PAIR_KEY("bootstrap_pair_key"),
    DECODE_TP_SIZE("decode_tp_size"),
    /** Whatever begins so: {@code disagg_prefill_dp_rank}, {@code disaggregated_params}. */
    DISAGG("disagg"),
    KV_HINTS("kv_hints"),
    ENCODER_URLS("encoder_urls"),
    HTTP_WORKER_IPC("http_worker_ipc"),
    RID("rid"),
    SESSION_PARAMS("session_params"),
    CUSTOM_LOGIT_PROCESSOR("custom_logit_processor"),
    LOGITS_PROCESSORS("logits_processors"),
    // One of them for one API only, and one that may have them inside.
    REQUEST_ID("request_id"),
    VLLM_XARGS("vllm_xargs");

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
        return compareTo(FUNCTIONS) >= 0 && compareTo(EXTRA_KEY) <= 0;
    }

    /** Acts on the engine or on other requests, unless its value is null. */
    boolean isForEngines() {
        return compareTo(LORA_PATH) >= 0 && compareTo(REQUEST_ID) < 0;
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
        if (to - from < BY_LENGTH.length) {
            for (RequestMember m : BY_LENGTH[to - from]) {
                if (m.isAt(b, from)) {
                    return m;
                }
            }
        }
        boolean disagg = to - from > DISAGG.text.length() && DISAGG.isAt(b, from);
        return disagg ? DISAGG : null;
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
        if (name.length() < BY_LENGTH.length) {
            for (RequestMember m : BY_LENGTH[name.length()]) {
                if (m.text.equals(name)) {
                    return m;
                }
            }
        }
        return name.startsWith(DISAGG.text) ? DISAGG : null;
    }
}
