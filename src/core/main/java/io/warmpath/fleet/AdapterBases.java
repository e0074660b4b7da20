package io.warmpath.fleet;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which model an adapter belongs to, as the fleet's workers tell; where they differ, the first
 * worker's word counts. Any thread; a look-up in one map.
 */
public final class AdapterBases {
    private volatile Map<String, String> bases = Map.of();

    /** Follows the workers of a fleet from now on. */
    public void follow(FleetRegistry registry) {
        registry.addListener(FleetListener.onChange(() -> take(registry.snapshot())));
    }

    /** What the workers of this fleet tell, in place of all that was told before. */
    public void take(FleetSnapshot fleet) {
        Map<String, String> now = new HashMap<>();
        fleet.workers().forEach(w -> w.served().bases().forEach(now::putIfAbsent));
        if (!now.equals(bases)) {
            bases = Map.copyOf(now);
        }
    }

    /** No worker tells of an adapter. */
    public boolean isEmpty() {
        return bases.isEmpty();
    }

    /** Null for what is no adapter. */
    public @Nullable String of(String model) {
        return bases.get(model);
    }
}
