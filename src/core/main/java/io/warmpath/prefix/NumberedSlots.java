package io.warmpath.prefix;

import java.util.BitSet;

/** Slots and nothing behind them, for a gateway without an index. */
public final class NumberedSlots implements WorkerSlots {
    // Both guarded by this.
    private final BitSet taken = new BitSet();

    /** How often each number was given back. */
    private final int[] incarnations = new int[PrefixIndex.MAX_SLOTS];

    @Override
    public synchronized WorkerSlot open(int domain) {
        int number = taken.nextClearBit(0);
        if (number >= PrefixIndex.MAX_SLOTS) {
            throw new IllegalStateException(
                    "all " + PrefixIndex.MAX_SLOTS + " slots are taken; remove a worker");
        }
        taken.set(number);
        return WorkerSlot.of(number, incarnations[number]);
    }

    @Override
    public synchronized void close(WorkerSlot slot) {
        if (!isOpen(slot)) {
            throw new IllegalStateException("slot " + slot.index() + " is not open");
        }
        taken.clear(slot.index());
        incarnations[slot.index()]++;
    }

    /** This incarnation is open now. */
    public synchronized boolean isOpen(WorkerSlot slot) {
        return taken.get(slot.index())
                && WorkerSlot.of(slot.index(), incarnations[slot.index()]).equals(slot);
    }
}
