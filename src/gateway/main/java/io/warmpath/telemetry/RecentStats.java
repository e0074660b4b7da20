package io.warmpath.telemetry;

import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixIndex;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** An index's size, half a second old at most: one look serves all gauges of a scrape. */
final class RecentStats implements Supplier<IndexStats> {
    private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final PrefixIndex index;
    private final LongSupplier nanoTime;
    // Guarded by this.
    private IndexStats last;
    private long lastNanos;

    RecentStats(PrefixIndex index, LongSupplier nanoTime) {
        this.index = index;
        this.nanoTime = nanoTime;
        this.last = index.stats();
        this.lastNanos = nanoTime.getAsLong();
    }

    @Override
    public synchronized IndexStats get() {
        long now = nanoTime.getAsLong();
        if (now - lastNanos >= FRESH_NANOS) {
            try {
                last = index.stats();
            } catch (IllegalStateException closed) {
                return last; // a scrape during shutdown
            }
            lastNanos = now;
        }
        return last;
    }
}
