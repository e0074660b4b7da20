package io.warmpath.gateway.request;

/** How an engine is told which half of a request it does. */
public sealed interface Half permits Bootstrap, Half.Keep, Half.Offer, Half.Take {
    /**
     * vLLM's engine that prefills, by NIXL or a shared store: one token, in one piece, and the KV
     * cache is kept until another engine has fetched it ({@link HandOff}).
     */
    record Keep() implements Half {}

    /**
     * vLLM's engine that prefills, by Mooncake: one token, in one piece, and the KV cache goes to
     * who asks for it by this name. {@code transfer}: no other request has it.
     */
    record Offer(String transfer) implements Half {}

    /**
     * vLLM's engine that decodes, by Mooncake: it asks the registry of the one that prefills.
     *
     * @param transfer the same as of the {@link Offer}
     * @param registry where it is, as {@code http://host:port}
     * @param engine the name of the rank that prefills
     */
    record Take(String transfer, String registry, String engine) implements Half {}
}
