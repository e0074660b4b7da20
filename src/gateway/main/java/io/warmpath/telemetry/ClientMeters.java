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
        connections(registry, "client", "Clients'", limits.connections());
    }

    /** Of the endpoint picker's port. */
    public static void bindProxies(MeterRegistry registry, ClientLimits limits) {
        connections(registry, "picker", "Proxies'", limits.connections());
    }

    private static void connections(
            MeterRegistry registry, String part, String whose, ClientConnections connections) {
        String name = "warmpath." + part;
        Gauge.builder(name + ".connections", connections, ClientConnections::open)
                .description(whose + " connections that are open")
                .register(registry);
        Gauge.builder(name + ".connections.max", connections, ClientConnections::most)
                .description(whose + " connections that may be open")
                .register(registry);
        Map.of(
                        "displaced", connections.displaced(),
                        "refused", connections.refused(),
                        "flooding", connections.flooding())
                .forEach(
                        (how, count) ->
                                FunctionCounter.builder(
                                                name + ".connections.closed", count, LongAdder::sum)
                                        .description(
                                                whose
                                                        + " connections closed because there were too"
                                                        + " many: without a request, for another one"
                                                        + " (displaced), or new while all others were"
                                                        + " in use (refused); or for floods of HTTP/2"
                                                        + " frames that ask for nothing (flooding)")
                                        .tag("how", how)
                                        .register(registry));
        FunctionCounter.builder(
                        name + ".streams.refused", connections.refusedStreams(), LongAdder::sum)
                .description("Streams of HTTP/2 beyond those that a connection may have")
                .register(registry);
    }
}
