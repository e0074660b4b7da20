package io.warmpath.config;

/** Where a session's first request goes. */
public enum SessionPlacement {
    COST,
    RENDEZVOUS
}
