package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.prefix.BlockTracker;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** Meters of the block cache trackers, summed over models. */
public final class TrackerMeters {
    private TrackerMeters() {}

    /**
     * @param stats any thread; must not fail, also not after closing
     * @param recorded prompts since the beginning; any thread
     */
    public static void bind(
            MeterRegistry registry, Supplier<BlockTracker.Stats> stats, LongSupplier recorded) {
        // Hangs at what the gauges hold: a supplier that only the counter knew would be collected.
        FunctionCounter.builder(
                        "warmpath.tracker.recorded", stats, s -> (double) recorded.getAsLong())
                .description("Prompts recorded as sent to a rank")
                .register(registry);
        gauge(registry, stats, "backends", "Ranks known, per model", BlockTracker.Stats::backends);
        gauge(
                registry,
                stats,
                "blocks",
                "Pairs of a rank and a block it is taken to hold",
                BlockTracker.Stats::blocks);
        gauge(registry, stats, "bytes", "Memory of the tables", BlockTracker.Stats::bytes);
        FunctionCounter.builder("warmpath.tracker.evicted", stats, s -> (double) s.get().evicted())
                .description("Pairs of a rank and a block that were dropped for room")
                .register(registry);
    }

    private static void gauge(
            MeterRegistry registry,
            Supplier<BlockTracker.Stats> stats,
            String what,
            String doc,
            ToDoubleFunction<BlockTracker.Stats> value) {
        Gauge.builder("warmpath.tracker." + what, stats, s -> value.applyAsDouble(s.get()))
                .description(doc)
                .strongReference(true)
                .register(registry);
    }
}
