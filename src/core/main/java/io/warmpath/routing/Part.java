package io.warmpath.routing;

/** Which part of a request is decided on, in a fleet that splits them. */
public enum Part {
    /** Prompt and answer, by one worker. */
    WHOLE,
    /** The prompt, whose KV cache goes to another worker. */
    PREFILL,
    /** The answer; the KV cache of the prompt comes from another worker. */
    DECODE
}
