package io.warmpath.config.tokens;

/** Which prompts of a model engines are asked about. */
public enum AskEngine {
    /** All, while no files of it can be used here. */
    AUTO,
    /** All that the files here do not give. */
    TRUE,
    FALSE
}
