package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixIndex;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/** Meters of the index's size. One look at the index serves all gauges of a scrape. */
public final class IndexMeters {
    private final RecentStats stats;

    private IndexMeters(RecentStats stats) {
        this.stats = stats;
    }

    /** {@code nanoTime}: as {@link System#nanoTime}. */
    public static void bind(MeterRegistry registry, PrefixIndex index, LongSupplier nanoTime) {
        IndexMeters meters = new IndexMeters(new RecentStats(index, nanoTime));
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
        meters.counter(
                registry,
                "refused",
                "Blocks not taken because the index has all the memory that it may have",
                IndexStats::refused);
    }

    private void counter(
            MeterRegistry registry, String what, String doc, ToDoubleFunction<IndexStats> value) {
        FunctionCounter.builder(
                        "warmpath.index." + what, this, m -> value.applyAsDouble(m.stats.get()))
                .description(doc)
                .register(registry);
    }

    private void gauge(
            MeterRegistry registry, String what, String doc, ToDoubleFunction<IndexStats> value) {
        Gauge.builder("warmpath.index." + what, this, m -> value.applyAsDouble(m.stats.get()))
                .description(doc)
                .strongReference(true)
                .register(registry);
    }
}
