package io.warmpath.wiring.fleet;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.load.LoadTracker;
import io.warmpath.wiring.engines.EngineParts;
import io.warmpath.wiring.events.EventParts;
import io.warmpath.wiring.index.OverlapParts;
import io.warmpath.wiring.index.StateParts;
import java.util.function.BooleanSupplier;

/** The fleet of a gateway: from its other parts, with every source of workers, not started. */
public final class FleetParts {
    private FleetParts() {}

    /** {@code guarding}: loads count in decisions, whatever the routing mode. */
    public static FleetRuntime build(
            WarmpathConfig config,
            Vertx vertx,
            MeterRegistry meters,
            KubernetesParts kubernetes,
            EngineParts engines,
            StateParts state,
            EventParts events,
            OverlapParts caches,
            LoadTracker load,
            BooleanSupplier guarding) {
        FleetRuntime fleet =
                new FleetRuntime(
                        config,
                        vertx,
                        engines.tls(),
                        engines.signs(),
                        engines.addresses(),
                        state.slots(),
                        events.feed(),
                        caches.credits(),
                        state::mark,
                        load,
                        guarding);
        kubernetes.source().ifPresent(fleet::follow);
        RegistrationParts.source(config, meters).ifPresent(fleet::follow);
        fleet.silence(new SilentWorkers(engines.client(), config.health().silence()));
        return fleet;
    }
}
