package io.warmpath.config;

/** Which engine answers at a worker's URL, as configured. */
public enum EngineType {
    SGLANG,
    VLLM,
    OPENAI
}
