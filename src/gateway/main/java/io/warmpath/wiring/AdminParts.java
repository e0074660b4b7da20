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
import io.warmpath.config.WarmpathConfig;
import io.warmpath.events.PostedFeed;
import io.warmpath.events.SourceReport;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.source.FleetSources;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.SplitPairs;
import io.warmpath.pool.PoolLayout;
import io.warmpath.pool.PoolStanding;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.replica.ReplicaSync;
import io.warmpath.routing.Router;
import io.warmpath.session.ControlledSession;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.SessionTable;
import io.warmpath.session.pin.PinLedger;
import io.warmpath.session.pin.PinRefusals;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.model.ReloadedModel;
import io.warmpath.usage.UsageBook;
import io.warmpath.wiring.events.EventParts;
import io.warmpath.wiring.events.EventSubscriptions;
import io.warmpath.wiring.fleet.FleetRuntime;
import io.warmpath.wiring.index.OverlapParts;
import io.warmpath.wiring.session.PinParts;
import io.warmpath.wiring.session.ReplicaParts;
import io.warmpath.wiring.session.SessionParts;
import io.warmpath.wiring.settings.AdminToken;
import io.warmpath.wiring.tokens.EngineTokenParts;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What the resources of {@code api.admin} need of a running gateway; {@link AdminBeans} gives it to
 * them.
 *
 * @param posted empty: no events are followed
 * @param idOnEngine what an engine calls a session that is there
 * @param pins empty: pins are off
 * @param replicas empty: each gateway for itself
 * @param stream those who follow the decisions
 */
record AdminParts(
        AdminAccess access,
        FleetRegistry fleet,
        FleetSources sources,
        AddressGuard addresses,
        WorkerFacts workers,
        Admission admission,
        Supplier<List<ReloadedModel>> reload,
        Supplier<List<SourceReport>> eventSources,
        InstantSource clock,
        Optional<PostedFeed> posted,
        SessionTable sessions,
        ControlledSessions controlled,
        Function<ControlledSession.Place, String> idOnEngine,
        Optional<PinLedger> pins,
        PinRefusals refusals,
        Optional<ReplicaSync> replicas,
        DecisionLog decisions,
        DecisionStream stream,
        GatewayInstance instance,
        FleetFacts fleetFacts,
        UsageBook usage,
        Supplier<List<Budgets.Left>> limits,
        UsagePrice price,
        CacheFacts caches) {
    static AdminParts of(
            WarmpathConfig config,
            AddressGuard addresses,
            FleetRuntime fleet,
            OverlapParts caches,
            EngineTokenParts engineTokens,
            Admission admission,
            ModelTokens tokens,
            EventParts events,
            SessionParts sessions,
            SplitPairs pairs,
            PinParts pins,
            ReplicaParts replicas,
            DecisionParts decisions,
            GatewayInstance instance,
            FleetFacts fleetFacts,
            UsageBook usage,
            Supplier<List<Budgets.Left>> limits,
            Router router,
            Supplier<Map<PoolLayout, PoolStanding>> pools) {
        EventSubscriptions subscriptions = fleet.subscriptions();
        return new AdminParts(
                new AdminAccess(AdminToken.read(config.admin()), UUID.randomUUID().toString()),
                fleet.registry(),
                fleet.sources(),
                addresses,
                new WorkerFacts(
                        fleet::engineLoads,
                        caches.followsEvents(),
                        engineTokens.check()::distrusted,
                        pins.supports(),
                        fleet.transfers()::of,
                        engineTokens::origins,
                        pairs::of),
                admission,
                tokens::reload,
                subscriptions == null ? List::of : subscriptions::reports,
                InstantSource.system(),
                Optional.ofNullable(events.posted()),
                sessions.table(),
                sessions.controlled(),
                sessions.engineSessions()::id,
                pins.ledger(),
                pins.refusals(),
                Optional.ofNullable(replicas.sync()),
                decisions.log(),
                decisions.stream(),
                instance,
                fleetFacts,
                usage,
                limits,
                new UsagePrice(
                        config.telemetry().usage().pricePerMillionPromptTokens(),
                        config.telemetry().usage().currency()),
                new CacheFacts(
                        Optional.ofNullable(caches.hot()),
                        caches::holders,
                        () -> Optional.ofNullable(caches.index()).map(PrefixIndex::stats),
                        Optional.of(events.counters()).filter(c -> caches.followsEvents()),
                        (model, candidates) -> router.forModel(model).evicted(candidates),
                        pools));
    }
}
