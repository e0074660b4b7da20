package io.warmpath.adapter.nativeindex;

import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixIndexContract;
import java.util.Optional;

class NativePrefixIndexTest extends PrefixIndexContract {
    @Override
    protected PrefixIndex create() {
        return new NativePrefixIndex(Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT);
    }
}
