package io.warmpath.routing;

import java.util.Locale;

/** What costs are made of, in the modes that compare them. */
public enum CostKind {
    /** Blocks to prefill and blocks in decode, weighted. */
    BLOCKS,
    /** Milliseconds until the answer, and those that the others lose. */
    LATENCY;

    CostKind other() {
        return this == BLOCKS ? LATENCY : BLOCKS;
    }

    /** As written in flags and answers. */
    public String flag() {
        return name().toLowerCase(Locale.ROOT);
    }
}
