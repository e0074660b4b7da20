package io.warmpath.gateway.request;

/** How an engine is told which half of a request it does. */
public sealed interface Half permits Bootstrap, Half.Keep {
    /**
     * vLLM's engine that prefills: one token, in one piece, and the KV cache is kept until another
     * engine has fetched it ({@link HandOff}).
     */
    record Keep() implements Half {}
}
