package io.warmpath.prefix;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An index of decisions beside one of events: what each worker will hold as soon as it has computed
 * what it was sent. It has a writer of its own, so that decisions never wait for events. Slots are
 * opened and closed in both, here only; a worker's slot has the same number in both, because both
 * give out the lowest free one. {@link #open} and {@link #close} are serialised; the rest as {@link
 * PrefixIndex}.
 */
public final class SideIndex implements WorkerSlots {
    private final WorkerSlots main;
    private final PrefixIndex side;

    /** Slot in the side index by slot in the main one. */
    private final Map<WorkerSlot, WorkerSlot> pairs = new ConcurrentHashMap<>();

    /**
     * @param main the index of events, of which only the slots are touched
     * @param side empty, and nobody else's; neither is closed here
     */
    public SideIndex(WorkerSlots main, PrefixIndex side) {
        this.main = main;
        this.side = side;
    }

    @Override
    public synchronized WorkerSlot open(int domain) {
        WorkerSlot slot = main.open(domain);
        try {
            WorkerSlot twin = side.openApproximate(domain);
            if (twin.index() != slot.index()) {
                side.close(twin);
                throw new IllegalStateException(
                        "the index of decisions gave slot %s where that of events gave %s"
                                .formatted(twin.index(), slot.index()));
            }
            pairs.put(slot, twin);
            return slot;
        } catch (RuntimeException e) {
            main.close(slot);
            throw e;
        }
    }

    /**
     * Takes in slots that the main index has opened by itself, such as from a file, while neither
     * has any other.
     */
    public synchronized void adopt(List<WorkerSlot> opened) {
        Map<Integer, WorkerSlot> wanted = new HashMap<>();
        opened.forEach(s -> wanted.put(s.index(), s));
        List<WorkerSlot> unwanted = new ArrayList<>();
        while (!wanted.isEmpty()) {
            // The lowest free number comes first, so that all below the highest have to be opened.
            WorkerSlot twin = side.openApproximate(0);
            WorkerSlot slot = wanted.remove(twin.index());
            if (slot == null) {
                unwanted.add(twin);
            } else {
                pairs.put(slot, twin);
            }
        }
        unwanted.forEach(side::close);
    }

    @Override
    public synchronized void close(WorkerSlot slot) {
        WorkerSlot twin = pairs.remove(slot);
        if (twin != null) {
            side.close(twin);
        }
        main.close(slot);
    }

    /** A prompt goes to this slot; new blocks, 0 when the slot is not open any more. */
    public long decide(WorkerSlot slot, PrefixQuery prompt, long nowMillis) {
        WorkerSlot twin = pairs.get(slot);
        return twin == null ? 0 : side.decide(twin, prompt, nowMillis);
    }

    /** As {@link PrefixIndex#match}; its slot numbers are those of the main index. */
    public PrefixMatch match(PrefixQuery query) {
        return side.match(query);
    }

    /** As {@link PrefixIndex#expire}. */
    public long expire(long nowMillis) {
        return side.expire(nowMillis);
    }
}
