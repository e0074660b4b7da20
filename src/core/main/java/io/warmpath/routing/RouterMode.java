package io.warmpath.routing;

import java.util.Locale;

/** How a worker is chosen. */
public enum RouterMode {
    /** Lowest cost from cached prefix and load. */
    KV,
    RANDOM,
    ROUND_ROBIN,
    /** Fewer running requests of two candidates that are drawn. */
    POWER_OF_TWO,
    /** Fewest running requests. */
    LEAST_LOADED,
    /** The client names the worker; refused otherwise. */
    DIRECT,
    /** Where earlier prompts like it went, unless that worker is too busy; else least loaded. */
    VLLM_CACHE_AWARE;

    /** The decision depends on the prompt's tokens. */
    public boolean looksAtTokens() {
        return this == KV || this == VLLM_CACHE_AWARE;
    }

    /** The candidates' costs decide. */
    public boolean comparesCosts() {
        return this == KV || this == DIRECT;
    }

    /** As written in flags and configuration: {@code round-robin}. */
    public String flag() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
