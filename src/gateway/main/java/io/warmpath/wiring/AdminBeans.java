package io.warmpath.wiring;

import io.warmpath.admission.Admission;
import io.warmpath.api.admin.AdminAccess;
import io.warmpath.api.admin.WorkerFacts;
import io.warmpath.events.PostedFeed;
import io.warmpath.events.SourceReport;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.source.FleetSources;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.replica.ReplicaSync;
import io.warmpath.session.ControlledSession;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.SessionTable;
import io.warmpath.session.pin.PinLedger;
import io.warmpath.session.pin.PinRefusals;
import io.warmpath.tokens.model.ReloadedModel;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/** The parts of the running gateway that resources ask for, as beans. */
@Singleton
class AdminBeans {
    private final AdminParts parts;

    @Inject
    AdminBeans(GatewayBean gateway) {
        this.parts = gateway.admin();
    }

    @Produces
    @Singleton
    AdminAccess access() {
        return parts.access();
    }

    @Produces
    @Singleton
    FleetRegistry fleet() {
        return parts.fleet();
    }

    @Produces
    @Singleton
    FleetSources sources() {
        return parts.sources();
    }

    @Produces
    @Singleton
    AddressGuard addresses() {
        return parts.addresses();
    }

    @Produces
    @Singleton
    WorkerFacts workers() {
        return parts.workers();
    }

    @Produces
    @Singleton
    Admission admission() {
        return parts.admission();
    }

    @Produces
    @Singleton
    Supplier<List<ReloadedModel>> reload() {
        return parts.reload();
    }

    @Produces
    @Singleton
    Supplier<List<SourceReport>> eventSources() {
        return parts.eventSources();
    }

    @Produces
    @Singleton
    InstantSource clock() {
        return parts.clock();
    }

    @Produces
    @Singleton
    Optional<PostedFeed> posted() {
        return parts.posted();
    }

    @Produces
    @Singleton
    SessionTable sessions() {
        return parts.sessions();
    }

    @Produces
    @Singleton
    ControlledSessions controlled() {
        return parts.controlled();
    }

    @Produces
    @Singleton
    Function<ControlledSession.Place, String> idOnEngine() {
        return parts.idOnEngine();
    }

    @Produces
    @Singleton
    Optional<PinLedger> pins() {
        return parts.pins();
    }

    @Produces
    @Singleton
    PinRefusals refusals() {
        return parts.refusals();
    }

    @Produces
    @Singleton
    Optional<ReplicaSync> replicas() {
        return parts.replicas();
    }

    @Produces
    @Singleton
    DecisionLog decisions() {
        return parts.decisions();
    }
}
