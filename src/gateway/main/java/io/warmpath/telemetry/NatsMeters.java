package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** Meters of the connection to NATS and of the stream of events. */
public final class NatsMeters {
    private NatsMeters() {}

    /**
     * @param connected whether there is a server
     * @param losses connections lost
     * @param lag messages of the stream not read yet
     * @param troubles how often the stream had to be opened again
     */
    public static <L, F> void bind(
            MeterRegistry registry,
            L link,
            Predicate<L> connected,
            ToDoubleFunction<L> losses,
            F feed,
            ToDoubleFunction<F> lag,
            ToDoubleFunction<F> troubles) {
        Gauge.builder("warmpath.nats.connected", link, l -> connected.test(l) ? 1 : 0)
                .description("1 while a NATS server is connected")
                .strongReference(true)
                .register(registry);
        FunctionCounter.builder("warmpath.nats.losses", link, losses)
                .description("Connections to NATS that were lost")
                .register(registry);
        Gauge.builder("warmpath.events.stream.lag", feed, lag)
                .description("Messages of the event stream that were not read yet")
                .strongReference(true)
                .register(registry);
        FunctionCounter.builder("warmpath.events.stream.troubles", feed, troubles)
                .description("Times the event stream had to be opened again")
                .register(registry);
    }
}
