package io.warmpath.tools;

import io.warmpath.adapter.nativeindex.NativeBlockTracker;
import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.lab.policy.Indexes;
import io.warmpath.prefix.BlockTracker;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.PrefixIndex;
import java.util.Optional;

/** The native indexes, for the lab. */
final class LabIndexes implements Indexes {
    @Override
    public PrefixIndex index(DecisionLimits limits) {
        return new NativePrefixIndex(
                Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT, limits);
    }

    @Override
    public BlockTracker tracker(BlockTracker.Options options) {
        return new NativeBlockTracker(Optional.empty(), options);
    }
}
