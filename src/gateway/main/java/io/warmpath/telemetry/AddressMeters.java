package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.fleet.address.AddressGuard;
import java.util.Locale;

/** Places that were named and not connected to. */
public final class AddressMeters {
    private AddressMeters() {}

    public static void bind(MeterRegistry registry, AddressGuard guard) {
        for (AddressGuard.At at : AddressGuard.At.values()) {
            FunctionCounter.builder("warmpath.addresses.refused", guard, g -> g.refused(at))
                    .description(
                            "Workers' records (record), sockets that engines told (engine) and"
                                    + " connections (connect) refused because of their address")
                    .tag("at", at.name().toLowerCase(Locale.ROOT))
                    .register(registry);
        }
    }
}
