package io.warmpath.lab.policy;

import io.warmpath.prefix.BlockTracker;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.PrefixIndex;

/** Makes the indexes that routers look into: the native ones, or the reference. */
public interface Indexes {
    PrefixIndex index(DecisionLimits limits);

    BlockTracker tracker(BlockTracker.Options options);
}
