package io.warmpath.config;

/** How the mode vllm-cache-aware tells a block from others, as configured. */
public enum BlockHashing {
    POSITION,
    CHAINED
}
