package io.warmpath.wiring;

import io.warmpath.access.Budgets;
import io.warmpath.admission.Admission;
import io.warmpath.api.admin.AdminAccess;
import io.warmpath.api.admin.CacheFacts;
import io.warmpath.api.admin.DecisionStream;
import io.warmpath.api.admin.FleetFacts;
import io.warmpath.api.admin.GatewayInstance;
import io.warmpath.api.admin.UsagePrice;
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
import io.warmpath.usage.UsageBook;
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
    @Produces @Singleton final AdminAccess access;
    @Produces @Singleton final FleetRegistry fleet;
    @Produces @Singleton final FleetSources sources;
    @Produces @Singleton final AddressGuard addresses;
    @Produces @Singleton final WorkerFacts workers;
    @Produces @Singleton final Admission admission;
    @Produces @Singleton final Supplier<List<ReloadedModel>> reload;
    @Produces @Singleton final Supplier<List<SourceReport>> eventSources;
    @Produces @Singleton final InstantSource clock;
    @Produces @Singleton final Optional<PostedFeed> posted;
    @Produces @Singleton final SessionTable sessions;
    @Produces @Singleton final ControlledSessions controlled;
    @Produces @Singleton final Function<ControlledSession.Place, String> idOnEngine;
    @Produces @Singleton final Optional<PinLedger> pins;
    @Produces @Singleton final PinRefusals refusals;
    @Produces @Singleton final Optional<ReplicaSync> replicas;
    @Produces @Singleton final DecisionLog decisions;
    @Produces @Singleton final DecisionStream stream;
    @Produces @Singleton final GatewayInstance instance;
    @Produces @Singleton final FleetFacts fleetFacts;
    @Produces @Singleton final UsageBook usage;
    @Produces @Singleton final Supplier<List<Budgets.Left>> limits;
    @Produces @Singleton final UsagePrice price;
    @Produces @Singleton final CacheFacts caches;

    @Inject
    AdminBeans(GatewayBean gateway) {
        AdminParts parts = gateway.admin();
        this.access = parts.access();
        this.fleet = parts.fleet();
        this.sources = parts.sources();
        this.addresses = parts.addresses();
        this.workers = parts.workers();
        this.admission = parts.admission();
        this.reload = parts.reload();
        this.eventSources = parts.eventSources();
        this.clock = parts.clock();
        this.posted = parts.posted();
        this.sessions = parts.sessions();
        this.controlled = parts.controlled();
        this.idOnEngine = parts.idOnEngine();
        this.pins = parts.pins();
        this.refusals = parts.refusals();
        this.replicas = parts.replicas();
        this.decisions = parts.decisions();
        this.stream = parts.stream();
        this.instance = parts.instance();
        this.fleetFacts = parts.fleetFacts();
        this.usage = parts.usage();
        this.limits = parts.limits();
        this.price = parts.price();
        this.caches = parts.caches();
    }
}
