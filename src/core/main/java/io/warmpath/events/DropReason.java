package io.warmpath.events;

import java.util.Locale;

/** Why a readable event was not applied. Each has a counter; none makes the view untrusted. */
public enum DropReason {
    /** Block size differs from the worker's. */
    BLOCK_SIZE,
    /** A single page shorter than a block: the tail of a prompt, which no query asks for. */
    SHORT_PAGE,
    /** Number of token ids does not fit the number of hashes. */
    TOKEN_COUNT,
    /** Stored without token ids (offload tiers of vLLM). */
    NO_TOKENS,
    /** No hashes. */
    EMPTY,
    /** The block is its own parent. */
    SELF_PARENT,
    /** The same hash twice in one event. */
    DUPLICATE_HASH,
    /** The first block already depends on an image or another input that token ids do not show. */
    MULTIMODAL,
    /** An adapter known by number only: its name is what requests carry. */
    UNNAMED_LORA,
    /** A tier this version does not know. */
    UNKNOWN_MEDIUM,
    /** Blocks that lie on another worker. */
    REMOTE,
    /**
     * A layer group of which nobody knows what a prefix needs of it, or of which this is not device
     * memory: chunked local attention, a window of unknown size, blocks that are no multiple of the
     * worker's.
     */
    SPEC_KIND,
    /** A rank that this worker does not have. */
    UNKNOWN_RANK;

    /** As in metrics: {@code block_size}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
