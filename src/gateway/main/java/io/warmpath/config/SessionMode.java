package io.warmpath.config;

/** What a session's binding is worth. */
public enum SessionMode {
    HARD,
    SOFT
}
