package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixIndexContract;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The contract with a domain for each worker, and with every block forgotten that nobody holds. */
class NativeWithoutSharingTest extends PrefixIndexContract {
    @Override
    protected PrefixIndex create() {
        return new NativePrefixIndex(
                Optional.empty(),
                NativePrefixIndex.DEFAULT_ORPHAN_LIMIT,
                NativePrefixIndex.NO_GHOSTS);
    }

    @Override
    protected int domain(long worker) {
        return (int) (worker % PrefixIndex.MAX_DOMAINS);
    }

    @Test
    void nothing_is_kept_for_nobody_and_nothing_conflicts() {
        try (PrefixIndex index = create()) {
            IndexStats s = NativePrefixIndexTest.afterSameHashForOtherContent(index, 1, 2);
            assertEquals(0, s.blocks());
            assertEquals(0, s.ghosts());
            assertEquals(0, s.conflicts());
        }
    }
}
