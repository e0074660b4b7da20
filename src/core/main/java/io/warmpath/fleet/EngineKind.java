package io.warmpath.fleet;

/** Which engine answers at a worker's URL. */
public enum EngineKind {
    SGLANG,
    VLLM,
    /** TensorRT-LLM's own server, {@code trtllm-serve}. */
    TRTLLM,
    /** Any OpenAI-compatible engine. */
    OPENAI;

    /**
     * Whether OpenAI's interface alone may be relied on: no prompts as token ids in a form of its
     * own, no question about its tokens or its model's files, no text that it goes on with.
     */
    public boolean isPlain() {
        return this == TRTLLM || this == OPENAI;
    }
}
