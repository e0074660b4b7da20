package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.load.LoadTracker;

/** Meters of the bookings as a whole; those of each rank are {@link FleetMeters}. */
public final class LoadMeters {
    private LoadMeters() {}

    public static void bind(MeterRegistry registry, LoadTracker load) {
        Gauge.builder("warmpath.bookings.open", load, LoadTracker::open)
                .description("Bookings that are open")
                .register(registry);
        FunctionCounter.builder("warmpath.bookings.expired", load, LoadTracker::expired)
                .description("Bookings that were never closed and were given up; a leak")
                .register(registry);
    }
}
