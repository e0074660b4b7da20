package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.state.SnapshotCounters;
import java.util.function.ToDoubleFunction;

/** Meters of the snapshots that outlive the process. */
public final class StateMeters {
    private StateMeters() {}

    public static void bind(MeterRegistry registry, SnapshotCounters counters) {
        count(registry, counters, "written", SnapshotCounters::writes);
        count(registry, counters, "failed", SnapshotCounters::failures);
        Gauge.builder("warmpath.state.snapshot.bytes", counters, SnapshotCounters::bytes)
                .description("Size of the newest snapshot of the index")
                .strongReference(true)
                .register(registry);
    }

    private static void count(
            MeterRegistry registry,
            SnapshotCounters counters,
            String result,
            ToDoubleFunction<SnapshotCounters> value) {
        FunctionCounter.builder("warmpath.state.snapshots", counters, value)
                .description("Snapshots of the index")
                .tag("result", result)
                .register(registry);
    }
}
