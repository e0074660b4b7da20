package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixIndex;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/** Meters of the index's size. One look at the index serves all gauges of a scrape. */
public final class IndexMeters {
    private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final PrefixIndex index;
    private final LongSupplier nanoTime;
    // Guarded by this.
    private IndexStats last;
    private long lastNanos;

    private IndexMeters(PrefixIndex index, LongSupplier nanoTime) {
        this.index = index;
        this.nanoTime = nanoTime;
        this.last = index.stats();
        this.lastNanos = nanoTime.getAsLong();
    }

    /**
     * @param nanoTime as {@link System#nanoTime}
     */
    public static void bind(MeterRegistry registry, PrefixIndex index, LongSupplier nanoTime) {
        IndexMeters meters = new IndexMeters(index, nanoTime);
        meters.gauge(registry, "slots", "Ranks that the index has a slot for", IndexStats::slots);
        meters.gauge(registry, "blocks", "Distinct blocks known, ghosts too", IndexStats::blocks);
        meters.gauge(
                registry,
                "ghosts",
                "Blocks known though nobody holds them now",
                IndexStats::ghosts);
        meters.gauge(
                registry,
                "residencies",
                "Pairs of a rank and a block it holds",
                IndexStats::residencies);
        meters.gauge(registry, "runs", "Runs of the tree", IndexStats::runs);
        meters.gauge(registry, "orphans", "Blocks waiting for their parent", IndexStats::orphans);
        meters.gauge(registry, "bytes", "Memory of the index's tables", IndexStats::bytes);
        meters.counter(
                registry,
                "moves",
                "Engine hashes stored again for other content",
                IndexStats::moves);
        meters.counter(
                registry,
                "conflicts",
                "Engine hashes that mean different content on workers of one kind",
                IndexStats::conflicts);
        meters.counter(
                registry,
                "orphans.given.up",
                "Waiting blocks dropped because too many waited",
                IndexStats::orphansGivenUp);
    }

    private void counter(
            MeterRegistry registry, String what, String doc, ToDoubleFunction<IndexStats> value) {
        FunctionCounter.builder("warmpath.index." + what, this, m -> value.applyAsDouble(m.stats()))
                .description(doc)
                .register(registry);
    }

    private void gauge(
            MeterRegistry registry, String what, String doc, ToDoubleFunction<IndexStats> value) {
        Gauge.builder("warmpath.index." + what, this, m -> value.applyAsDouble(m.stats()))
                .description(doc)
                .strongReference(true)
                .register(registry);
    }

    private synchronized IndexStats stats() {
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
