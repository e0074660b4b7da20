package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.replica.PeerStatus;
import io.warmpath.replica.ReplicaCounters.Count;
import io.warmpath.replica.ReplicaSync;

/** Meters of the sync between gateways. */
public final class ReplicaMeters {
    private static final double NANOS_PER_SECOND = 1e9;

    private ReplicaMeters() {}

    public static void bind(MeterRegistry registry, ReplicaSync sync) {
        peers(registry, sync, true);
        peers(registry, sync, false);
        Gauge.builder("warmpath.replica.bookings", sync, ReplicaMeters::bookings)
                .description("Bookings of other gateways that count in the load here")
                .strongReference(true)
                .register(registry);
        Gauge.builder("warmpath.replica.age", sync, ReplicaMeters::age)
                .description("What is known of the other gateways that count is at most so old")
                .baseUnit("seconds")
                .strongReference(true)
                .register(registry);
        for (Count what : Count.values()) {
            switch (what) {
                case SENT_BYTES -> bytes(registry, sync, what, "out");
                case RECEIVED_BYTES -> bytes(registry, sync, what, "in");
                default ->
                        FunctionCounter.builder(
                                        "warmpath.replica.sync", sync, s -> s.counters().get(what))
                                .description("What happened between gateways, by kind")
                                .tag("what", what.word())
                                .register(registry);
            }
        }
        FunctionCounter.builder("warmpath.replica.dropped", sync, ReplicaSync::dropped)
                .description(
                        "Changes of bookings that found the queue full; healed by a look at all")
                .register(registry);
    }

    private static void bytes(
            MeterRegistry registry, ReplicaSync sync, Count what, String direction) {
        FunctionCounter.builder("warmpath.replica.bytes", sync, s -> s.counters().get(what))
                .description("Bytes of messages between gateways")
                .baseUnit("bytes")
                .tag("direction", direction)
                .register(registry);
    }

    private static void peers(MeterRegistry registry, ReplicaSync sync, boolean counted) {
        Gauge.builder(
                        "warmpath.replica.peers",
                        sync,
                        s -> s.peers().stream().filter(p -> p.counted() == counted).count())
                .description("Other gateways, by whether their load counts here")
                .tag("counted", Boolean.toString(counted))
                .strongReference(true)
                .register(registry);
    }

    private static double age(ReplicaSync sync) {
        return sync.peers().stream()
                        .filter(PeerStatus::counted)
                        .mapToLong(PeerStatus::ageNanos)
                        .max()
                        .orElse(0)
                / NANOS_PER_SECOND;
    }

    private static double bookings(ReplicaSync sync) {
        return sync.peers().stream().filter(PeerStatus::counted).mapToInt(PeerStatus::open).sum();
    }
}
