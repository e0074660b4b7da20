package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.net.FileShortage;
import io.warmpath.net.server.ClientConnections;
import io.warmpath.net.server.ClientLimits;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Clients' connections: how many, and those that were closed. */
public final class ClientMeters {
    private ClientMeters() {}

    public static void bind(MeterRegistry registry, ClientLimits limits) {
        Map.of("head", limits.heads(), "body", limits.bodies(), "idle", limits.idles())
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
        FunctionCounter.builder(
                        "warmpath.file.shortages", FileShortage.OF_PROCESS, FileShortage::count)
                .description(
                        "Files and sockets that could not be opened because the process has as many"
                                + " open as it may")
                .register(registry);
        ClientConnections connections = limits.connections();
        Gauge.builder("warmpath.client.connections", connections, ClientConnections::open)
                .description("Clients' connections that are open")
                .register(registry);
        Gauge.builder("warmpath.client.connections.max", connections, ClientConnections::most)
                .description("Clients' connections that may be open")
                .register(registry);
        Map.of("displaced", connections.displaced(), "refused", connections.refused())
                .forEach(
                        (how, count) ->
                                FunctionCounter.builder(
                                                "warmpath.client.connections.closed",
                                                count,
                                                LongAdder::sum)
                                        .description(
                                                "Clients' connections closed because there were too"
                                                        + " many: without a request, for another one"
                                                        + " (displaced), or new while all others were"
                                                        + " in use (refused)")
                                        .tag("how", how)
                                        .register(registry));
    }
}
