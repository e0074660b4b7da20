package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/** Meters of the process' memory and its bound. */
public final class MemoryMeters {
    private MemoryMeters() {}

    /**
     * @param watch what the rest is asked of; kept alive
     * @param resident bytes
     * @param limit bytes
     * @param full whether requests are refused
     * @param shortages how often that began
     */
    public static <T> void bind(
            MeterRegistry registry,
            T watch,
            ToLongFunction<T> resident,
            ToLongFunction<T> limit,
            Predicate<T> full,
            ToLongFunction<T> shortages) {
        Gauge.builder("warmpath.memory.resident.bytes", watch, w -> resident.applyAsLong(w))
                .description("Memory of the process that is in the machine's memory")
                .strongReference(true)
                .register(registry);
        Gauge.builder("warmpath.memory.limit.bytes", watch, w -> limit.applyAsLong(w))
                .description("Memory that the process may have")
                .strongReference(true)
                .register(registry);
        Gauge.builder("warmpath.memory.full", watch, w -> full.test(w) ? 1 : 0)
                .description("1 while requests with bodies are refused because memory is full")
                .strongReference(true)
                .register(registry);
        FunctionCounter.builder("warmpath.memory.shortages", watch, w -> shortages.applyAsLong(w))
                .description("How often memory became full")
                .register(registry);
    }
}
