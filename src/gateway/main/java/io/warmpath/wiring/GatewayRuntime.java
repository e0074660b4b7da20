package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.api.Routes;
import io.warmpath.api.admin.FleetFacts;
import io.warmpath.api.admin.GatewayInstance;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.fleet.AdapterBases;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.load.LoadTracker;
import io.warmpath.routing.RouterOptions;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.upstream.EngineClient;
import io.warmpath.wiring.channel.RequestRecords;
import io.warmpath.wiring.control.Announcements;
import io.warmpath.wiring.engines.ClientParts;
import io.warmpath.wiring.engines.EngineParts;
import io.warmpath.wiring.events.EventParts;
import io.warmpath.wiring.fleet.FleetParts;
import io.warmpath.wiring.fleet.FleetRuntime;
import io.warmpath.wiring.fleet.KubernetesParts;
import io.warmpath.wiring.fleet.WorkerMetrics;
import io.warmpath.wiring.index.OverlapParts;
import io.warmpath.wiring.index.SharedCacheParts;
import io.warmpath.wiring.index.StateParts;
import io.warmpath.wiring.memory.MemoryParts;
import io.warmpath.wiring.memory.MemoryPlan;
import io.warmpath.wiring.session.PinParts;
import io.warmpath.wiring.session.ReplicaParts;
import io.warmpath.wiring.session.SessionParts;
import io.warmpath.wiring.settings.AddressSetup;
import io.warmpath.wiring.settings.FlowSettings;
import io.warmpath.wiring.settings.IdleSettings;
import io.warmpath.wiring.settings.RouterSettings;
import io.warmpath.wiring.tokens.EngineTokenParts;
import io.warmpath.wiring.tokens.TokenParts;
import io.warmpath.wiring.warmup.WarmStart;
import io.warmpath.wiring.warmup.Warmup;
import java.time.Instant;
import java.util.UUID;

/**
 * Every part of a running gateway, built from the configuration and put together here only. {@link
 * #start} and {@link #close} once each, not on an event loop. Closing goes against the order of
 * building: the parts that use the index end before the index.
 */
final class GatewayRuntime implements AutoCloseable {
    private final OverlapParts caches;
    private final StateParts state;
    private final ReplicaParts replicas;
    private final AdmissionParts admission;
    private final ClientParts clients;
    private volatile boolean leaving;
    private final TokenParts tokenParts;
    private final EventParts events;
    private final KubernetesParts kubernetes;
    private final FleetRuntime fleet;
    private final EngineTokenParts engineTokens;
    private final SharedCacheParts sharedCache;
    private final EngineParts engineParts;
    private final Routes routes;
    private final SessionParts sessions;
    private final PinParts pins;
    private final DecisionParts decisions;
    private final UsageParts usage;
    private final TelemetryParts telemetry;
    private final WarmStart warmup;
    private final AdminParts admin;
    private final MemoryParts memory;
    private final PickerListener picker;

    /** {@code control} tells what other gateways announce; {@code records} go to other systems. */
    GatewayRuntime(
            WarmpathConfig config,
            Vertx vertx,
            MeterRegistry meters,
            Announcements control,
            RequestRecords records) {
        MemoryPlan plan = MemoryPlan.of(config.memory());
        long largestBody = plan.largestBody(config.http().maxBodySize().bytes());
        RouterOptions router = SharedCacheParts.weighed(RouterSettings.options(config), config);
        IdleSettings.tell(config);
        AdapterBases adapters = new AdapterBases();
        tokenParts = new TokenParts(config, plan, vertx, adapters);
        ModelTokens tokens = tokenParts.models();
        caches = new OverlapParts(config, plan, System::nanoTime);
        events = new EventParts(config, plan, caches);
        state = new StateParts(config.state(), caches, events.sharedState(control));
        replicas = new ReplicaParts(config);
        LoadTracker load =
                FlowSettings.loadTracker(config.router(), replicas.secret(), replicas.listener());
        admission = new AdmissionParts(config, vertx, load);
        AddressGuard addresses = AddressSetup.guard(config.addresses());
        clients = new ClientParts(config.auth(), vertx);
        engineParts = new EngineParts(config, vertx, clients, addresses);
        events.open(vertx, engineParts, meters, state.position());
        EngineClient engines = engineParts.client();
        kubernetes = new KubernetesParts(config.kubernetes(), meters);
        fleet =
                FleetParts.build(
                        config,
                        vertx,
                        meters,
                        kubernetes,
                        engineParts,
                        state,
                        events,
                        caches,
                        load,
                        admission.admission()::looksAtLoad);
        sharedCache =
                new SharedCacheParts(
                        config,
                        plan,
                        vertx,
                        tokenParts.threads()::brief,
                        meters,
                        addresses,
                        System::nanoTime);
        adapters.follow(fleet.registry());
        sharedCache.follow(fleet.registry());
        warmup = WarmupPath.start(config, plan, vertx, tokenParts, engineParts, caches);
        fleet.registry().addListener(warmup);
        GatewayInstance instance = new GatewayInstance(UUID.randomUUID().toString(), Main.VERSION);
        decisions =
                new DecisionParts(config.explain(), vertx, instance, meters, records.decisions());
        io.warmpath.routing.Router chooser =
                FlowSettings.router(
                        config, load, router, decisions.log(), admission.admission().looksAtLoad());
        fleet.onWaiting(chooser::waiting);
        usage =
                new UsageParts(
                        config.telemetry().usage(),
                        clients.gate().isOpen(),
                        vertx,
                        meters,
                        fleet.registry(),
                        load,
                        chooser,
                        router.latency(),
                        records.usage());
        telemetry = new TelemetryParts(config.telemetry(), meters, usage.tracing());
        sessions =
                new SessionParts(
                        config.session(),
                        plan,
                        replicas.sessions(),
                        vertx,
                        fleet.registry(),
                        engines);
        pins =
                new PinParts(
                        config.session().pins(),
                        state,
                        fleet,
                        vertx,
                        engines,
                        tokenParts.threads(),
                        load,
                        meters);
        fleet.registry().addListener(new WorkerMetrics(telemetry.requests()));
        engineTokens =
                new EngineTokenParts(
                        config,
                        plan,
                        vertx,
                        engineParts,
                        meters,
                        tokens,
                        tokenParts.names(),
                        caches.overlaps().takesTexts(),
                        warmup::settled);
        engineTokens.follow(fleet.registry(), fleet.sources());
        routes =
                new RequestPath(
                                config,
                                tokenParts,
                                tokens,
                                fleet.registry(),
                                engines,
                                load,
                                caches.overlaps(),
                                chooser,
                                FlowSettings.options(config, plan, largestBody),
                                FlowSettings.migration(config.migration(), plan, meters),
                                telemetry.requests())
                        .admission(admission.admission())
                        .decisions(decisions.log())
                        .events(fleet.eventWatch())
                        .engineTokens(engineTokens.check(), engineTokens.ids())
                        .sessions(sessions)
                        .pins(pins.pins())
                        .shared(sharedCache.cache())
                        .hot(caches.hot())
                        .told(fleet.transfers(), fleet.adapters())
                        .objectives(kubernetes.objectives())
                        .rewrites(kubernetes.rewrites())
                        .routes(this::notReady, clients.gate());
        memory = new MemoryParts(plan, this::memoryFull, meters);
        picker =
                PickerListener.of(
                        config,
                        plan,
                        largestBody,
                        vertx,
                        meters,
                        routes,
                        engineParts::keyed,
                        this::notPicking);
        GatewayMeters.bind(
                meters,
                caches.index(),
                load,
                fleet,
                events.counters(),
                tokens,
                caches.overlaps().prompts(),
                chooser);
        caches.bind(meters);
        state.bind(meters);
        sessions.bind(meters);
        replicas.build(load, chooser, fleet.registry(), admission.admission()::wake, meters);
        admin =
                AdminParts.of(
                        config,
                        addresses,
                        fleet,
                        caches,
                        engineTokens,
                        admission.admission(),
                        tokens,
                        events,
                        sessions,
                        telemetry.requests().disagg().pairs(),
                        pins,
                        replicas,
                        decisions,
                        instance,
                        new FleetFacts(
                                load,
                                usage.history(),
                                caches::told,
                                telemetry.requests()::active,
                                telemetry.requests()::waiting,
                                routes.bodies()::full,
                                telemetry.requests().predictions()::notExact,
                                this::notReady,
                                router,
                                Instant.now()),
                        usage.book(),
                        clients::limits,
                        chooser,
                        sharedCache::standings);
    }

    /** What clients' requests come in by. */
    Routes routes() {
        return routes;
    }

    /** What operators' questions are answered from. */
    AdminParts admin() {
        return admin;
    }

    /** What checks of health are answered from. */
    HealthParts health() {
        return HealthParts.of(
                fleet,
                this::notReady,
                kubernetes::lacking,
                caches,
                events,
                sharedCache,
                memory.watch());
    }

    private void memoryFull(boolean now) {
        routes.bodies().full(now);
        sharedCache.memoryFull(now);
        events.memoryFull(now);
    }

    private String notReady() {
        return leaving ? "stopping" : warmup.warm() ? "" : "warming up";
    }

    /**
     * As {@link #notReady}, where servers that are no engines, and never will be, are chosen, too.
     */
    private String notPicking() {
        return warmup.warmSoFar() && !leaving ? "" : notReady();
    }

    /** The process will end soon: nobody should send more here, but what comes is answered. */
    void leaving() {
        leaving = true;
        decisions.leaving();
    }

    /** The part of the warm-up that needs no engine. */
    Warmup warmup() {
        return warmup.first();
    }

    void start() {
        memory.start();
        caches.start();
        fleet.start();
        state.start(events.feed(), fleet.registry());
        admission.start();
        replicas.start();
        sessions.start();
        sharedCache.start();
        pins.start();
        tokenParts.start();
        clients.start();
        warmup.start();
        usage.start();
        picker.start();
    }

    @Override
    public void close() {
        picker.close();
        memory.close();
        admission.close();
        tokenParts.stopReloads();
        clients.close();
        warmup.close();
        engineTokens.close();
        sessions.close();
        pins.close();
        replicas.close();
        state.close();
        fleet.close();
        sharedCache.close();
        events.close();
        tokenParts.close();
        engineParts.close();
        decisions.close();
        usage.close();
        telemetry.close();
        caches.close();
    }
}
