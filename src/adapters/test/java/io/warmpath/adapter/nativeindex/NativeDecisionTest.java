package io.warmpath.adapter.nativeindex;

import io.warmpath.prefix.DecisionContract;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.PrefixIndex;
import java.util.Optional;

class NativeDecisionTest extends DecisionContract {
    @Override
    protected PrefixIndex create(DecisionLimits limits) {
        return new NativePrefixIndex(Optional.empty(), 100, limits);
    }
}
