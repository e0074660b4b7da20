package io.warmpath.config.tokens;

/** Which workers may name folders of this machine, from which their tokenizers are taken. */
public enum EngineFiles {
    OFF,
    CONFIGURED,
    ALL
}
