package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An engine that stores new blocks for ever, before an index that may not grow for ever. */
class NativeByteLimitTest {
    private static final int BLOCKS = 64;
    private static final int EVENTS = 4_000;
    private static final long LIMIT = 2 << 20;

    private static PrefixEvent fresh(WorkerSlot slot, int number) {
        long[] hashes = new long[BLOCKS];
        int[] tokens = new int[BLOCKS];
        for (int i = 0; i < BLOCKS; i++) {
            hashes[i] = (long) number * BLOCKS + i + 1;
            tokens[i] = number * BLOCKS + i;
        }
        return new PrefixEvent.Stored(
                slot, Tier.GPU, false, 0, hashes, tokens, 1, PrefixSpace.NONE);
    }

    private static IndexStats flooded(long limit, boolean thenCleared) {
        try (NativePrefixIndex index =
                new NativePrefixIndex(
                        Optional.empty(),
                        NativePrefixIndex.DEFAULT_ORPHAN_LIMIT,
                        DecisionLimits.DEFAULT,
                        limit)) {
            WorkerSlot slot = index.open(0);
            for (int n = 0; n < EVENTS; n++) {
                index.apply(List.of(fresh(slot, n)));
            }
            if (thenCleared) {
                index.close(slot);
                WorkerSlot next = index.open(0);
                for (int n = EVENTS; n < EVENTS + 10; n++) {
                    index.apply(List.of(fresh(next, n)));
                }
            }
            return index.stats();
        }
    }

    @Test
    void what_is_beyond_the_limit_is_refused_and_counted() {
        IndexStats stats = flooded(LIMIT, false);
        assertTrue(stats.refused() > 0, stats::toString);
        assertEquals((long) EVENTS * BLOCKS, stats.residencies() + stats.refused());
        assertTrue(stats.bytes() < 2 * LIMIT, stats::toString);
    }

    @Test
    void without_a_limit_everything_is_taken() {
        IndexStats stats = flooded(NativePrefixIndex.NO_BYTE_LIMIT, false);
        assertEquals(0, stats.refused());
        assertEquals((long) EVENTS * BLOCKS, stats.residencies());
        assertTrue(stats.bytes() > 3 * LIMIT, stats::toString);
    }

    @Test
    void what_leaves_makes_room() {
        IndexStats stats = flooded(LIMIT, true);
        assertEquals(10L * BLOCKS, stats.residencies());
    }
}
