package io.warmpath.load;

import io.warmpath.prefix.WorkerSlot;

/**
 * How many blocks one request would add to each rank, beside those that run there already.
 *
 * <p>A moment's view, immutable; look-ups are one array read.
 */
public final class PotentialBlocks {
    /** Nothing is shared: every block is a new one. */
    public static final PotentialBlocks ALL_NEW = new PotentialBlocks(new int[0], true);

    static final PotentialBlocks NOT_TRACKED = new PotentialBlocks(new int[0], false);

    private final int[] shared;
    private final boolean tracked;

    /**
     * @param shared blocks of the prompt that run already, by slot number; may be shorter
     */
    PotentialBlocks(int[] shared, boolean tracked) {
        this.shared = shared;
        this.tracked = tracked;
    }

    /** Leading blocks of the prompt that running requests of the slot use already. */
    public int shared(WorkerSlot slot) {
        int index = slot.index();
        return index < shared.length ? shared[index] : 0;
    }

    /** Of {@code total} blocks those that would be new; 0 when blocks are not tracked. */
    public int added(WorkerSlot slot, int total) {
        return tracked ? Math.max(0, total - shared(slot)) : 0;
    }
}
