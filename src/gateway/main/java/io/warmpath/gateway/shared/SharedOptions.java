package io.warmpath.gateway.shared;

import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * How pools are asked. Immutable.
 *
 * @param kind whose pages are looked for
 * @param deadline longest that a request waits for an answer; 0: only what is remembered counts
 * @param masters admin URLs for every worker; empty: each worker's own word
 * @param engineVersion of SGLang where a worker does not tell; empty: such workers get no credit
 * @param checkInterval between looks for pages that must be there
 */
public record SharedOptions(
        Kind kind,
        Duration deadline,
        List<URI> masters,
        String engineVersion,
        Duration checkInterval) {
    public SharedOptions {
        masters = List.copyOf(masters);
    }

    /** Whose pages. */
    public enum Kind {
        /** SGLang's HiCache with the storage backend mooncake. */
        HICACHE,
        /** vLLM's MooncakeStoreConnector. */
        MOONCAKE_STORE,
        /** LMCache in vLLM: a pool for each instance, which tells this process what it holds. */
        LMCACHE
    }
}
