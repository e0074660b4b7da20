package io.warmpath.wiring.fleet;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.adapter.nats.NatsWorkers;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.fleet.source.FleetSource;
import io.warmpath.telemetry.RegistrationMeters;
import io.warmpath.wiring.events.NatsParts;
import io.warmpath.wiring.settings.StartFailure;
import java.util.Optional;

/** Makes the source of workers that register themselves at NATS, when it is wanted. Stateless. */
public final class RegistrationParts {
    private RegistrationParts() {}

    /**
     * With a connection of its own, so that neither events nor snapshots wait behind it.
     *
     * @throws StartFailure naming what cannot be
     */
    public static Optional<FleetSource> source(WarmpathConfig config, MeterRegistry meters) {
        if (!config.fleet().nats().enabled()) {
            return Optional.empty();
        }
        NatsWorkers source =
                new NatsWorkers(
                        NatsParts.open(config.nats()),
                        NatsParts.names(config.nats()),
                        NatsParts.routerId(config.nats(), config.http().port()),
                        System::nanoTime);
        RegistrationMeters.bind(
                meters,
                source,
                NatsWorkers::connected,
                NatsWorkers::registered,
                NatsWorkers::refused,
                NatsWorkers::ranOut,
                NatsWorkers::outages);
        return Optional.of(source);
    }
}
