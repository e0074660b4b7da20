package io.warmpath.gateway.request;

import io.warmpath.fleet.EngineKind;

/**
 * What the name of a model in a request stands for. Immutable.
 *
 * @param asked as the client wrote it
 * @param served as workers list it
 * @param base the model that an adapter belongs to; otherwise the same as {@code served}
 * @param namespace cache salt of all its requests; empty: none
 */
public record ModelName(String asked, String served, String base, String namespace) {
    /** A name that stands for itself. */
    public static ModelName plain(String name) {
        return new ModelName(name, name, name, "");
    }

    /** The adapter's name, which separates its blocks from the base's; empty without one. */
    public String lora() {
        return served.equals(base) ? "" : served;
    }

    /** As an engine of this kind wants it in a request. SGLang takes adapters behind a colon. */
    public String on(EngineKind kind) {
        return kind == EngineKind.SGLANG && !lora().isEmpty() ? base + ':' + served : served;
    }

    /** A salt of the client's own within the namespace. */
    String salt(String own) {
        return namespace.isEmpty() ? own : own.isEmpty() ? namespace : namespace + ':' + own;
    }
}
