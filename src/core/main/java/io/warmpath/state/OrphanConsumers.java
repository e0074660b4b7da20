package io.warmpath.state;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Which consumers belong to gateways that have been gone for long. Counts from when it first missed
 * the gateway, by a clock of its own. One thread.
 */
public final class OrphanConsumers {
    private final long expiryNanos;
    private final LongSupplier nanoTime;
    private final Map<String, Long> missingSince = new HashMap<>();

    public OrphanConsumers(Duration expiry, LongSupplier nanoTime) {
        this.expiryNanos = expiry.toNanos();
        this.nanoTime = nanoTime;
    }

    /**
     * Looks once more; call it now and then.
     *
     * @param consumers that exist, by the gateway's id
     * @param present gateways that are alive
     * @return those of the consumers that may be removed
     */
    public List<String> look(Collection<String> consumers, Set<String> present) {
        long now = nanoTime.getAsLong();
        missingSince.keySet().removeIf(c -> !consumers.contains(c) || present.contains(c));
        List<String> gone = new ArrayList<>();
        for (String c : consumers) {
            if (!present.contains(c)
                    && now - missingSince.computeIfAbsent(c, k -> now) >= expiryNanos) {
                gone.add(c);
            }
        }
        return gone;
    }
}
