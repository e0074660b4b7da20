package io.warmpath.config;

/** What the costs of the mode kv are made of, as configured. */
public enum RoutingCost {
    BLOCKS,
    LATENCY
}
