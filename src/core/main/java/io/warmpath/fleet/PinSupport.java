package io.warmpath.fleet;

import java.util.Locale;

/** How a worker can be made to keep a prefix that a client pins; the first that it has is used. */
public enum PinSupport {
    /** Not at all, or it has not said. */
    NONE,
    /** By a route of its own that takes token ids and a time. */
    RPC,
    /**
     * By {@code kv_hints} in a request over the prefix. Engines do not say whether they heed it.
     */
    KV_HINTS,
    /** By the priority of the request that made it: blocks of lower ones are evicted first. */
    PRIORITY,
    /** By requests over the prefix, again and again, so that it is never the oldest. */
    KEEP_ALIVE;

    /** {@code none}, {@code rpc}, {@code kv-hints}, {@code priority} or {@code keep-alive}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Throws {@link IllegalArgumentException} with a sentence for the operator. */
    public static PinSupport parse(String word) {
        for (PinSupport s : values()) {
            if (s.word().equals(word)) {
                return s;
            }
        }
        throw new IllegalArgumentException(
                "pins `" + word + "` must be rpc, kv-hints, priority, keep-alive or none");
    }
}
