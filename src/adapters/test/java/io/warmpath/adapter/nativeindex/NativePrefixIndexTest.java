package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixIndexContract;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The contract as the gateway opens the index, all workers in one domain. */
class NativePrefixIndexTest extends PrefixIndexContract {
    @Override
    protected PrefixIndex create() {
        return new NativePrefixIndex(Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT);
    }

    @Test
    void blocks_stay_known_for_a_while_and_conflicts_are_counted() {
        try (PrefixIndex index = create()) {
            IndexStats s = afterSameHashForOtherContent(index, 0, 0);
            assertEquals(2, s.blocks());
            assertEquals(2, s.ghosts());
            assertEquals(1, s.conflicts());
            assertEquals(0, s.residencies());
        }
    }

    /** Two slots store one hash for different blocks, and both close; then a third one's event. */
    static IndexStats afterSameHashForOtherContent(PrefixIndex index, int domainA, int domainB) {
        WorkerSlot a = index.open(domainA);
        WorkerSlot b = index.open(domainB);
        index.apply(List.of(stored(a, 1), stored(b, 2)));
        assertEquals(2, index.stats().blocks());
        assertEquals(0, index.stats().ghosts());
        index.close(a);
        index.close(b);
        // What nobody needs is given back while events are applied.
        WorkerSlot c = index.open(domainA);
        index.apply(List.of(new PrefixEvent.Removed(c, Tier.GPU, new long[] {1})));
        return index.stats();
    }

    private static PrefixEvent stored(WorkerSlot slot, int block) {
        return new PrefixEvent.Stored(
                slot, Tier.GPU, false, 0, new long[] {7}, prompt(block), B, PrefixSpace.NONE);
    }
}
