package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** Meters of the workers that register themselves at NATS. */
public final class RegistrationMeters {
    private RegistrationMeters() {}

    /**
     * @param following whether what is written there is seen now
     * @param workers registered now, by what was last seen
     * @param refused records that could not be used
     * @param ranOut leases that ran out
     * @param outages times that it could no longer be seen
     */
    public static <S> void bind(
            MeterRegistry registry,
            S source,
            Predicate<S> following,
            ToDoubleFunction<S> workers,
            ToDoubleFunction<S> refused,
            ToDoubleFunction<S> ranOut,
            ToDoubleFunction<S> outages) {
        Gauge.builder("warmpath.registration.following", source, s -> following.test(s) ? 1 : 0)
                .description("1 while registrations at NATS are seen; else what is known stays")
                .register(registry);
        Gauge.builder("warmpath.registration.workers", source, workers)
                .description("Workers that are registered at NATS, by what was last seen")
                .register(registry);
        FunctionCounter.builder("warmpath.registration.refused", source, refused)
                .description("Registrations that could not be used; the log says why")
                .register(registry);
        FunctionCounter.builder("warmpath.registration.expired", source, ranOut)
                .description("Registrations whose lease ran out")
                .register(registry);
        FunctionCounter.builder("warmpath.registration.outages", source, outages)
                .description("Times that registrations at NATS could no longer be seen")
                .register(registry);
    }
}
