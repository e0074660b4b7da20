package io.warmpath.prefix;

/**
 * Size of an index now, and what it had to do since it was made.
 *
 * @param slots open slots
 * @param blocks distinct blocks known: held by anyone, on the way to a held one, and ghosts
 * @param residencies (slot, block) pairs, counted once however many tiers
 * @param runs runs of the tree; 0 where the index has none
 * @param orphans (slot, block) pairs waiting for their parent
 * @param bytes memory of the index's tables; 0 when not known
 * @param ghosts blocks kept for a while though nobody holds them or what follows
 * @param moves hashes stored again for another block, since the beginning
 * @param conflicts hashes that a slot needs for itself because its domain means another block by
 *     them, since the beginning; 0 where slots share nothing
 * @param orphansGivenUp waiting blocks dropped at the limit, since the beginning
 * @param refused blocks that were not taken, since the beginning: the index has all the memory that
 *     it may have, or they were of a decision above the capacity
 * @param decisions not ended, and no later one of their slot goes as far
 * @param decisionsEndedByTime since the beginning
 * @param decisionsEndedByCapacity since the beginning
 */
public record IndexStats(
        int slots,
        long blocks,
        long residencies,
        long runs,
        long orphans,
        long bytes,
        long ghosts,
        long moves,
        long conflicts,
        long orphansGivenUp,
        long refused,
        long decisions,
        long decisionsEndedByTime,
        long decisionsEndedByCapacity) {
    /** Nothing there and nothing done. */
    public static final IndexStats EMPTY = new IndexStats(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}
