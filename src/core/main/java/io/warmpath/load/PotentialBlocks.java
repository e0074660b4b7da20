package io.warmpath.load;

import io.warmpath.prefix.WorkerSlot;
import java.util.List;

/**
 * How many blocks one request would add to each rank, beside those that run there already, and how
 * many requests use its leading blocks. A moment's view, immutable; look-ups are one array read.
 */
public final class PotentialBlocks {
    /** Nothing is shared: every block is a new one. */
    public static final PotentialBlocks ALL_NEW = new PotentialBlocks(new int[0], true, List.of());

    static final PotentialBlocks NOT_TRACKED = new PotentialBlocks(new int[0], false, List.of());

    private final int[] shared;
    private final boolean tracked;
    private final List<PrefixUsers> users;

    /**
     * @param shared blocks of the prompt that run already, by slot number; may be shorter
     * @param users at most one for each block size; not copied
     */
    PotentialBlocks(int[] shared, boolean tracked, List<PrefixUsers> users) {
        this.shared = shared;
        this.tracked = tracked;
        this.users = users;
    }

    /** Who uses the prompt's leading blocks of this size, on whatever rank. */
    public PrefixUsers users(int blockSize) {
        for (int i = 0; i < users.size(); i++) {
            if (users.get(i).blockSize() == blockSize) {
                return users.get(i);
            }
        }
        return PrefixUsers.NONE;
    }

    /** Heap that only this takes, at most. */
    public long heapBytes() {
        long bytes = 64 + 4L * shared.length;
        for (int i = 0; i < users.size(); i++) {
            bytes += 80 + 16L * users.get(i).stretches();
        }
        return bytes;
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
