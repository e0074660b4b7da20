package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.upstream.ClientTimeouts;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Clients that took too long. */
public final class ClientMeters {
    private ClientMeters() {}

    public static void bind(MeterRegistry registry, ClientTimeouts timeouts) {
        Map.of("head", timeouts.heads(), "body", timeouts.bodies(), "idle", timeouts.idles())
                .forEach(
                        (phase, count) ->
                                FunctionCounter.builder(
                                                "warmpath.client.timeouts", count, LongAdder::sum)
                                        .description(
                                                "Clients' connections closed because nothing came"
                                                        + " (idle), or a request's head or body too"
                                                        + " slowly")
                                        .tag("phase", phase)
                                        .register(registry));
    }
}
