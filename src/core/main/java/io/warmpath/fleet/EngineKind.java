package io.warmpath.fleet;

/** Which engine answers at a worker's URL. */
public enum EngineKind {
    SGLANG,
    VLLM,
    /** Any OpenAI-compatible engine. */
    OPENAI
}
