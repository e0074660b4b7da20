package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixIndex;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/**
 * Meters of what workers are taken to hold because prompts were sent to them: of the side index, or
 * of the index itself where no events are followed; and of the index of texts.
 */
public final class PredictionMeters {
    /** Of prompts that are known by their tokens. */
    public static final String TOKENS = "warmpath.predicted.";

    /** Of prompts that are known by their text, in chunks of that. */
    public static final String TEXTS = "warmpath.text.";

    private PredictionMeters() {}

    /**
     * @param name of the meters, up to their last part
     * @param holder of the decisions
     * @param recorded decisions since the beginning; any thread
     * @param recordedBlocks their blocks that were new to the worker; any thread
     * @param nanoTime as {@link System#nanoTime}
     */
    public static void bind(
            MeterRegistry registry,
            String name,
            PrefixIndex holder,
            LongSupplier recorded,
            LongSupplier recordedBlocks,
            LongSupplier nanoTime) {
        RecentStats stats = new RecentStats(holder, nanoTime);
        gauge(
                registry,
                stats,
                name + "prompts",
                "Prompts that a rank is taken to hold because they were sent there",
                IndexStats::decisions);
        gauge(registry, stats, name + "blocks", "Distinct blocks of them", IndexStats::blocks);
        gauge(
                registry,
                stats,
                name + "residencies",
                "Pairs of a rank and a block it is taken to hold",
                IndexStats::residencies);
        gauge(
                registry,
                stats,
                name + "bytes",
                "Memory of the tables that hold them",
                IndexStats::bytes);
        ended(registry, stats, name + "ended", "time", IndexStats::decisionsEndedByTime);
        ended(registry, stats, name + "ended", "capacity", IndexStats::decisionsEndedByCapacity);
        counter(registry, stats, recorded, name + "recorded", "Prompts recorded as sent to a rank");
        counter(
                registry,
                stats,
                recordedBlocks,
                name + "recorded.blocks",
                "Blocks of these prompts that the rank was not taken to hold before");
    }

    private static void gauge(
            MeterRegistry registry,
            RecentStats stats,
            String what,
            String doc,
            ToDoubleFunction<IndexStats> value) {
        Gauge.builder(what, stats, s -> value.applyAsDouble(s.get()))
                .description(doc)
                .strongReference(true)
                .register(registry);
    }

    private static void ended(
            MeterRegistry registry,
            RecentStats stats,
            String what,
            String cause,
            ToDoubleFunction<IndexStats> value) {
        FunctionCounter.builder(what, stats, s -> value.applyAsDouble(s.get()))
                .description("Recorded prompts that nobody is taken to hold any more")
                .tag("cause", cause)
                .register(registry);
    }

    /** Hangs at what the gauges hold: a supplier that only the counter knew would be collected. */
    private static void counter(
            MeterRegistry registry, RecentStats held, LongSupplier value, String what, String doc) {
        FunctionCounter.builder(what, held, h -> (double) value.getAsLong())
                .description(doc)
                .register(registry);
    }
}
