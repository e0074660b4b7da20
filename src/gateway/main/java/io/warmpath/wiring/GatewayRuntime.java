package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.warmpath.admission.Admission;
import io.warmpath.api.Routes;
import io.warmpath.api.admin.AdminAccess;
import io.warmpath.api.admin.WorkerFacts;
import io.warmpath.api.connection.RawRequests;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.http.AdminConfig;
import io.warmpath.config.tokens.EngineFiles;
import io.warmpath.events.EventFeed;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.source.SourceName;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.prompt.EngineIds;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.load.LoadTracker;
import io.warmpath.routing.RouterOptions;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.model.ModelFolders;
import io.warmpath.upstream.EngineClient;
import io.warmpath.wiring.control.Announcements;
import io.warmpath.wiring.engines.ClientParts;
import io.warmpath.wiring.engines.EngineParts;
import io.warmpath.wiring.events.EventParts;
import io.warmpath.wiring.events.EventSubscriptions;
import io.warmpath.wiring.fleet.FleetLeft;
import io.warmpath.wiring.fleet.FleetRuntime;
import io.warmpath.wiring.fleet.KubernetesParts;
import io.warmpath.wiring.fleet.ModelsServed;
import io.warmpath.wiring.fleet.RegistrationParts;
import io.warmpath.wiring.fleet.SilentWorkers;
import io.warmpath.wiring.index.OverlapParts;
import io.warmpath.wiring.index.SharedCacheParts;
import io.warmpath.wiring.index.StateParts;
import io.warmpath.wiring.session.PinParts;
import io.warmpath.wiring.session.ReplicaParts;
import io.warmpath.wiring.session.SessionParts;
import io.warmpath.wiring.settings.AddressSetup;
import io.warmpath.wiring.settings.AdmissionSetup;
import io.warmpath.wiring.settings.FlowSettings;
import io.warmpath.wiring.settings.IdleSettings;
import io.warmpath.wiring.settings.RouterSettings;
import io.warmpath.wiring.settings.StartFailure;
import io.warmpath.wiring.tokens.EngineModels;
import io.warmpath.wiring.tokens.EngineQuestions;
import io.warmpath.wiring.tokens.ModelSettings;
import io.warmpath.wiring.tokens.TokenOrigins;
import io.warmpath.wiring.tokens.TokenParts;
import io.warmpath.wiring.warmup.WarmStart;
import io.warmpath.wiring.warmup.Warmup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jboss.logging.Logger;

/**
 * Every part of a running gateway, built from the configuration and put together here only.
 *
 * <p>{@link #start} and {@link #close} once each, not on an event loop. Closing goes against the
 * order of building: the parts that use the index end before the index.
 */
final class GatewayRuntime implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(GatewayRuntime.class);

    private static final long QUEUE_CHECK_MILLIS = 100;

    private final OverlapParts caches;
    private final StateParts state;
    private final ReplicaParts replicas;
    private final LoadTracker load;
    private final Admission admission;
    private final ClientParts clients;
    private final Vertx vertx;
    private long queueTimer = -1;
    private volatile boolean leaving;
    private final TokenParts tokenParts;
    private final TokenOrigins origins;
    private final EventParts events;
    private final FleetRuntime fleet;
    private final EngineQuestions questions;
    private final SharedCacheParts sharedCache;
    private final EngineParts engineParts;
    private final Routes routes;
    private final SessionParts sessions;
    private final PinParts pins;
    private final DecisionParts decisions;
    private final TelemetryParts telemetry;
    private final WarmStart warmup;
    private final AdminParts admin;
    private final HealthParts health;

    /** Alone, or heard by nobody. */
    GatewayRuntime(WarmpathConfig config, Vertx vertx, MeterRegistry meters) {
        this(config, vertx, meters, Announcements.NONE);
    }

    GatewayRuntime(
            WarmpathConfig config, Vertx vertx, MeterRegistry meters, Announcements control) {
        RouterOptions router =
                SharedCacheParts.weighed(RouterSettings.options(config.router()), config);
        RouterSettings.deprecation(config.router()).ifPresent(LOG::warn);
        IdleSettings.of(config).forEach(LOG::warn);
        tokenParts = new TokenParts(config, vertx);
        ModelTokens tokens = tokenParts.models();
        caches = new OverlapParts(config, System::nanoTime);
        events = new EventParts(config, caches);
        state = new StateParts(config.state(), caches, events.sharedState(control));
        replicas = new ReplicaParts(config);
        load = FlowSettings.loadTracker(config.router(), replicas.secret(), replicas.listener());
        admission = new Admission(AdmissionSetup.options(config), load, System::nanoTime);
        this.vertx = vertx;
        AddressGuard addresses = AddressSetup.guard(config.addresses());
        events.open(addresses, meters, state.position());
        clients = new ClientParts(config.auth(), vertx);
        engineParts = new EngineParts(config, vertx, clients, addresses);
        EngineClient engines = engineParts.client();
        fleet =
                new FleetRuntime(
                        config,
                        vertx,
                        engineParts.tls(),
                        engineParts.signs(),
                        addresses,
                        state.slots(),
                        events.feed(),
                        caches.credits(),
                        state::mark,
                        load,
                        admission::guarding);
        KubernetesParts.source(config.kubernetes(), meters).ifPresent(fleet::follow);
        RegistrationParts.source(config, meters).ifPresent(fleet::follow);
        sharedCache =
                new SharedCacheParts(
                        config,
                        vertx,
                        tokenParts.threads()::brief,
                        meters,
                        addresses,
                        System::nanoTime);
        SharedCache shared = sharedCache.cache();
        if (shared != null) {
            fleet.registry().addListener(shared);
        }
        fleet.registry().addListener(new SilentWorkers(engines, config.health().silence()));
        questions = new EngineQuestions(vertx, engineParts.tls(), addresses);
        questions.bind(meters);
        SelfCheck selfCheck =
                new SelfCheck(
                        questions.tokenizer(), questions.executor(), meters, System::nanoTime);
        warmup =
                new WarmStart(
                        target ->
                                new Warmup(
                                        vertx,
                                        config.warmup().requests(),
                                        config.warmup().time(),
                                        target,
                                        WarmupPath::compileMillis,
                                        new WarmupPath(
                                                config, tokenParts, engineParts, caches, target)),
                        new Warmup.Target(tokens.anyModel().orElse("any"), EngineKind.OPENAI),
                        config.warmup().time());
        fleet.registry().addListener(warmup);
        decisions = new DecisionParts(config.explain(), meters);
        telemetry = new TelemetryParts(config.telemetry(), meters);
        FlowMetrics metrics = new FlowMetrics(meters, telemetry.tracing());
        sessions =
                new SessionParts(
                        config.session(), replicas.sessions(), vertx, fleet.registry(), engines);
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
        fleet.registry().addListener(new FleetLeft(metrics::forget));
        fleet.registry().addListener(new ModelsServed(metrics::serves));
        origins =
                new TokenOrigins(
                        tokens::has,
                        ModelSettings.askingEngines(config),
                        caches.overlaps().takesTexts(),
                        warmup::settled);
        EngineIds engineIds = questions.ids(origins::asksEngines, config.tokens().deadline());
        fleet.registry()
                .addListener(
                        new EngineModels(
                                tokens,
                                questions.places(),
                                ModelFolders.of(System.getenv(), System.getProperty("user.home")),
                                questions.tokenizer(),
                                trusted(config.tokens().engineFiles(), fleet),
                                ModelSettings.adapters(config),
                                questions.executor(),
                                origins));
        io.warmpath.routing.Router chooser =
                FlowSettings.router(config, load, router, decisions.log());
        routes =
                new RequestPath(
                                config,
                                meters,
                                tokenParts,
                                tokens,
                                fleet.registry(),
                                engines,
                                load,
                                caches.overlaps(),
                                chooser,
                                FlowSettings.options(config, config.http().maxBodySize().bytes()),
                                metrics)
                        .admission(admission)
                        .decisions(decisions.log())
                        .events(fleet.eventWatch())
                        .engineTokens(selfCheck, engineIds)
                        .sessions(sessions)
                        .pins(pins.pins())
                        .shared(shared)
                        .routes(this::notReady, clients.gate());
        GatewayMeters.bind(
                meters,
                caches.index(),
                load,
                fleet,
                events.counters(),
                tokens,
                caches.overlaps().prompts());
        caches.bind(meters);
        origins.bind(meters, () -> fleet.registry().snapshot().workers(), engineIds::isAbsent);
        state.bind(meters);
        sessions.bind(meters);
        replicas.build(load, chooser, fleet.registry(), admission::wake, meters);
        EventSubscriptions subscriptions = fleet.subscriptions();
        admin =
                new AdminParts(
                        new AdminAccess(adminToken(config.admin())),
                        fleet.registry(),
                        fleet.sources(),
                        addresses,
                        new WorkerFacts(
                                fleet::engineLoads,
                                caches.followsEvents(),
                                selfCheck::distrusted,
                                pins.supports(),
                                worker -> origins.words(worker, engineIds.isAbsent(worker))),
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
                        decisions.log());
        health =
                new HealthParts(
                        fleet.registry(),
                        this::notReady,
                        caches.implementation(),
                        events::connectedToNats,
                        fleet::heard,
                        Optional.ofNullable(shared).map(cache -> cache::answering));
    }

    void mount(Router router) {
        routes.mount(router);
    }

    /** What operators' questions are answered from. */
    AdminParts admin() {
        return admin;
    }

    /** What checks of health are answered from. */
    HealthParts health() {
        return health;
    }

    private String notReady() {
        return leaving ? "stopping" : warmup.warm() ? "" : "warming up";
    }

    /** The process will end soon: nobody should send more here, but what comes is answered. */
    void leaving() {
        leaving = true;
    }

    /** The requests that the runtime underneath knows nothing of. */
    RawRequests rawRequests() {
        return routes.rawRequests();
    }

    /** The part of the warm-up that needs no engine. */
    Warmup warmup() {
        return warmup.first();
    }

    void start() {
        caches.start();
        fleet.start();
        EventFeed feed = events.feed();
        if (feed != null) {
            state.start(feed, fleet.registry());
        }
        if (admission.queueing()) {
            // For what nobody tells: a new worker, a booking that expired.
            queueTimer = vertx.setPeriodic(QUEUE_CHECK_MILLIS, id -> admission.wake());
        }
        replicas.start();
        sessions.start();
        sharedCache.start();
        pins.start();
        tokenParts.start();
        clients.start();
        warmup.start();
    }

    @Override
    public void close() {
        vertx.cancelTimer(queueTimer);
        tokenParts.stopReloads();
        clients.close();
        warmup.close();
        questions.close();
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
        telemetry.close();
        caches.close();
    }

    private static Predicate<Worker> trusted(EngineFiles whose, FleetRuntime fleet) {
        return switch (whose) {
            case OFF -> worker -> false;
            case CONFIGURED ->
                    worker -> fleet.sources().sources(worker.url()).contains(SourceName.CONFIG);
            case ALL -> worker -> true;
        };
    }

    /** The token itself, or the content of its file without the line end. */
    private static Optional<String> adminToken(AdminConfig admin) {
        if (admin.token().isPresent() || admin.tokenFile().isEmpty()) {
            return admin.token();
        }
        Path file = Path.of(admin.tokenFile().get());
        try {
            String token = Files.readString(file).strip();
            if (token.isEmpty()) {
                throw new StartFailure("the file " + file + " (--admin-token-file) is empty");
            }
            return Optional.of(token);
        } catch (IOException e) {
            throw new StartFailure("the file " + file + " (--admin-token-file) cannot be read");
        }
    }
}
