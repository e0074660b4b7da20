package io.warmpath.prefix;

/**
 * Size of an index now.
 *
 * @param slots open slots
 * @param blocks distinct blocks held by anyone
 * @param residencies (slot, block) pairs, counted once however many tiers
 * @param runs runs of the tree; 0 where the index has none
 * @param orphans (slot, block) pairs waiting for their parent
 * @param bytes memory of the index's tables; 0 when not known
 */
public record IndexStats(
        int slots, long blocks, long residencies, long runs, long orphans, long bytes) {}
