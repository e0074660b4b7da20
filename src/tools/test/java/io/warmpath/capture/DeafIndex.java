package io.warmpath.capture;

import io.warmpath.prefix.ApplyResult;
import io.warmpath.prefix.HybridSlots;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.SlotBlocks;
import io.warmpath.prefix.WorkerSlot;
import java.util.List;

/** An index with a fault: it does not hear removals. */
final class DeafIndex implements PrefixIndex {
    private final ReferencePrefixIndex index = new ReferencePrefixIndex();

    @Override
    public WorkerSlot open(int domain) {
        return index.open(domain);
    }

    @Override
    public WorkerSlot openApproximate(int domain) {
        return index.openApproximate(domain);
    }

    @Override
    public long decide(WorkerSlot slot, PrefixQuery prompt, long nowMillis) {
        return index.decide(slot, prompt, nowMillis);
    }

    @Override
    public long expire(long nowMillis) {
        return index.expire(nowMillis);
    }

    @Override
    public void close(WorkerSlot slot) {
        index.close(slot);
    }

    @Override
    public ApplyResult apply(List<? extends PrefixEvent> events) {
        return index.apply(
                events.stream().filter(e -> !(e instanceof PrefixEvent.Removed)).toList());
    }

    @Override
    public PrefixMatch match(PrefixQuery query) {
        return index.match(query);
    }

    @Override
    public HybridSlots hybrids() {
        return index.hybrids();
    }

    @Override
    public SlotBlocks slotBlocks() {
        return index.slotBlocks();
    }

    @Override
    public IndexStats stats() {
        return index.stats();
    }

    @Override
    public void close() {
        index.close();
    }
}
