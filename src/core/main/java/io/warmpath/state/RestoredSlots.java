package io.warmpath.state;

import io.warmpath.events.SourceMark;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Slots of which some came from a file: a rank that was known before gets its own, once. Any
 * thread.
 */
public final class RestoredSlots implements WorkerSlots {
    private record Owner(long worker, int rank) {}

    private final WorkerSlots slots;

    // Guarded by this.
    private final Map<Owner, WorkerSlot> unclaimed = new HashMap<>();
    private final Map<WorkerSlot, SourceMark> marks = new HashMap<>();

    /** Slots that are handed out with what was known, and whose source has not been joined yet. */
    private final Set<WorkerSlot> toJoin = new HashSet<>();

    /** {@code slots}: gives out the new ones; has all of {@code labels} open. */
    public RestoredSlots(WorkerSlots slots, List<Label> labels, List<SourceMark> marks) {
        this.slots = slots;
        Set<WorkerSlot> covered = new HashSet<>();
        for (SourceMark m : marks) {
            this.marks.put(m.slot(), m);
            covered.add(m.slot());
            m.memories().forEach(s -> covered.add(s.slot()));
        }
        for (Label l : labels) {
            // Of a slot without a mark nobody knows what its content is worth; nor of a label
            // twice.
            if (!covered.contains(l.slot())
                    || unclaimed.putIfAbsent(new Owner(l.worker(), l.rank()), l.slot()) != null) {
                slots.close(l.slot());
            }
        }
    }

    @Override
    public WorkerSlot open(int domain) {
        return slots.open(domain);
    }

    @Override
    public WorkerSlot open(int domain, long worker, int rank) {
        synchronized (this) {
            WorkerSlot known = unclaimed.remove(new Owner(worker, rank));
            if (known != null) {
                toJoin.add(known);
                return known;
            }
        }
        return slots.open(domain);
    }

    @Override
    public void close(WorkerSlot slot) {
        synchronized (this) {
            toJoin.remove(slot);
            marks.remove(slot);
        }
        slots.close(slot);
    }

    /**
     * Where the source of this slot is to go on, once; null when it is to begin anew.
     *
     * @param clear called when it begins anew and the slot has something from the file
     */
    public @Nullable SourceMark join(WorkerSlot slot, Runnable clear) {
        boolean restored;
        SourceMark mark;
        synchronized (this) {
            restored = toJoin.remove(slot);
            mark = marks.remove(slot);
        }
        if (restored && mark == null) {
            clear.run();
        }
        return restored ? mark : null;
    }

    /** Marks of sources that have not been joined yet: another snapshot needs them again. */
    public synchronized List<SourceMark> pending() {
        return List.copyOf(marks.values());
    }

    /** Slots from the file that no worker has claimed. */
    public synchronized List<Label> unclaimed() {
        return unclaimed.entrySet().stream()
                .map(e -> new Label(e.getValue(), e.getKey().worker, e.getKey().rank))
                .toList();
    }

    /** Gives back what no worker has claimed; how many slots. */
    public int expire() {
        List<WorkerSlot> left;
        synchronized (this) {
            left = List.copyOf(unclaimed.values());
            unclaimed.clear();
            left.forEach(marks::remove);
        }
        left.forEach(slots::close);
        return left.size();
    }
}
