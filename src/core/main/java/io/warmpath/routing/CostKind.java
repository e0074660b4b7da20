package io.warmpath.routing;

import java.util.Locale;

/** What the costs of {@link RouterMode#KV} are made of. */
public enum CostKind {
    /** Blocks to prefill and blocks in decode, weighted. */
    BLOCKS,
    /** Milliseconds until the answer, and those that the others lose. */
    LATENCY;

    /** As written in flags and answers. */
    public String flag() {
        return name().toLowerCase(Locale.ROOT);
    }
}
