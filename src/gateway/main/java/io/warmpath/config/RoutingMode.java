package io.warmpath.config;

/** How a worker is chosen, as configured. */
public enum RoutingMode {
    KV,
    RANDOM,
    ROUND_ROBIN,
    POWER_OF_TWO,
    LEAST_LOADED,
    DIRECT,
    VLLM_CACHE_AWARE
}
