package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.warmpath.admission.Admission;
import io.warmpath.admission.AdmissionOptions;
import io.warmpath.api.ClientGate;
import io.warmpath.api.Routes;
import io.warmpath.api.admin.AdminAccess;
import io.warmpath.api.admin.WorkerFacts;
import io.warmpath.api.connection.RawRequests;
import io.warmpath.config.AdminConfig;
import io.warmpath.config.EngineFiles;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.events.EventFeed;
import io.warmpath.fleet.AddressGuard;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.SourceName;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.agent.EngineSessions;
import io.warmpath.gateway.agent.NextTurn;
import io.warmpath.gateway.agent.SessionTurns;
import io.warmpath.gateway.answer.AnswerReport;
import io.warmpath.gateway.flow.FlowParts;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.flow.Moving;
import io.warmpath.gateway.flow.RequestFlow;
import io.warmpath.gateway.flow.Retries;
import io.warmpath.gateway.flow.Sending;
import io.warmpath.gateway.migration.Migration;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.pin.PinMetrics;
import io.warmpath.gateway.pin.Pins;
import io.warmpath.gateway.plan.EntranceParts;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.plan.Planning;
import io.warmpath.gateway.prompt.EngineIds;
import io.warmpath.gateway.prompt.Overlaps;
import io.warmpath.gateway.prompt.TokenStep;
import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.load.BookingListener;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadTracker;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.session.Affinity;
import io.warmpath.session.PrefillBudget;
import io.warmpath.tokens.ModelFolders;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.PromptTokens;
import io.warmpath.upstream.EngineClient;
import io.warmpath.wiring.control.Announcements;
import io.warmpath.wiring.warmup.WarmStart;
import io.warmpath.wiring.warmup.Warmup;
import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Every part of a running gateway, built from the configuration and put together here only.
 *
 * <p>{@link #start} and {@link #close} once each, not on an event loop. Closing goes against the
 * order of building: the parts that use the index end before the index.
 */
final class GatewayRuntime implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(GatewayRuntime.class);

    /** Remembered pieces of the warm-up's few prompts. */
    private static final long WARMUP_CACHE_BYTES = 1 << 20;

    private static final long WARMUP_BODY_BYTES = 64 << 10;

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
                                        GatewayRuntime::compileMillis,
                                        warmupParts(config, target)),
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
                routes(
                        fleet.registry(),
                        tokens,
                        load,
                        admission,
                        engines,
                        caches.overlaps(),
                        chooser,
                        FlowSettings.options(config, config.http().maxBodySize().bytes()),
                        metrics,
                        decisions.log(),
                        fleet.eventWatch(),
                        selfCheck,
                        engineIds,
                        sessions.affinity(),
                        sessions.prefills(),
                        sessions.engineSessions(),
                        pins.pins(),
                        shared,
                        FlowSettings.migration(config.migration(), meters),
                        FlowSettings.retries(config.retry()),
                        this::notReady,
                        clients.gate());
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
    }

    private Routes routes(
            Fleet fleet,
            PromptTokens tokens,
            LoadBook load,
            Admission admission,
            EngineClient engines,
            Overlaps overlaps,
            io.warmpath.routing.Router router,
            GatewayOptions options,
            FlowMetrics metrics,
            DecisionLog decisions,
            EventWatch events,
            SelfCheck selfCheck,
            EngineIds engineIds,
            Affinity affinity,
            PrefillBudget prefills,
            EngineSessions engineSessions,
            Pins pins,
            @Nullable SharedCache shared,
            Migration migration,
            Retries retries,
            Supplier<String> notReady,
            ClientGate gate) {
        TokenStep tokenStep =
                new TokenStep(
                        tokens,
                        overlaps.prompts(),
                        overlaps.takesTexts(),
                        router.mode(),
                        tokenParts.threads(),
                        options.tokenDeadline(),
                        metrics,
                        engineIds,
                        shared,
                        System::nanoTime);
        Planner planner =
                new Planner(
                        fleet,
                        overlaps,
                        router,
                        load,
                        metrics,
                        decisions,
                        options.classTolerations(),
                        events,
                        selfCheck,
                        pins,
                        shared,
                        System::nanoTime);
        EntranceParts entrance =
                new EntranceParts(
                        planner, admission, metrics, options.retryAfter(), System::nanoTime);
        NextTurn.Parts nextTurns =
                new NextTurn.Parts(prefills, load, tokenParts.threads(), tokens, engines, metrics);
        RequestFlow flow =
                new RequestFlow(
                        new FlowParts(
                                new Planning(
                                        fleet, tokenParts.names(), tokenStep, planner, entrance),
                                new SessionTurns(
                                        affinity,
                                        engineSessions,
                                        planner,
                                        admission,
                                        tokenParts.threads()),
                                new Sending(
                                        load,
                                        engines,
                                        pins,
                                        nextTurns,
                                        new AnswerReport.Parts(
                                                nextTurns.warmed(),
                                                shared,
                                                selfCheck,
                                                events,
                                                metrics)),
                                new Moving(migration, tokens, tokenParts.threads(), selfCheck),
                                retries,
                                options,
                                metrics,
                                System::nanoTime));
        return new Routes(
                fleet,
                flow,
                tokenParts.models(),
                tokenParts.threads(),
                options,
                metrics,
                notReady,
                () -> ThreadLocalRandom.current().nextLong(),
                gate);
    }

    /** What the JVM's compilers have taken; 0 where there are none, as in a native executable. */
    private static long compileMillis() {
        CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
        return compilers == null || !compilers.isCompilationTimeMonitoringSupported()
                ? 0
                : compilers.getTotalCompilationTime();
    }

    /**
     * The path of requests once more. It shares what leaves no trace: the tokenizers, their
     * threads, and the index, which is only asked.
     */
    private Warmup.Parts warmupParts(WarmpathConfig config, Warmup.Target target) {
        EngineClient apart = engineParts.apart();
        // Its visitor names no worker, and its prompts are larger than the smallest limit.
        RouterOptions told = RouterSettings.options(config.router());
        RouterOptions kept = told.mode() == RouterMode.DIRECT ? told.with(RouterMode.KV) : told;
        long body = Math.max(WARMUP_BODY_BYTES, config.http().maxBodySize().bytes());
        PromptTokens prompts = tokenParts.apart(target.model(), WARMUP_CACHE_BYTES);
        return new Warmup.Parts() {
            @Override
            public void mount(Router router, Fleet fleet, FlowMetrics metrics) {
                LoadTracker apartLoad =
                        FlowSettings.loadTracker(
                                config.router(),
                                new SecureRandom().nextLong(),
                                BookingListener.NONE);
                routes(
                                fleet,
                                prompts,
                                apartLoad,
                                new Admission(AdmissionOptions.OFF, apartLoad, System::nanoTime),
                                apart,
                                caches.overlaps().askedOnly(WARMUP_CACHE_BYTES),
                                FlowSettings.router(config, apartLoad, kept, DecisionLog.OFF),
                                FlowSettings.options(config, body).with(ClientBounds.OFF),
                                metrics,
                                DecisionLog.OFF,
                                EventWatch.OFF,
                                SelfCheck.off(), // its engine counts no tokens
                                EngineIds.OFF,
                                Affinity.off(),
                                PrefillBudget.off(),
                                EngineSessions.off(apart),
                                Pins.off(new PinMetrics(new SimpleMeterRegistry())),
                                null, // its engine shares nothing
                                FlowSettings.migration(
                                        config.migration(), new SimpleMeterRegistry()),
                                FlowSettings.retries(config.retry()),
                                () -> "",
                                ClientGate.OPEN)
                        .mount(router);
            }

            @Override
            public void close() {
                apart.close();
            }
        };
    }

    void mount(Router router) {
        routes.mount(router);
    }

    /** What operators' questions are answered from. */
    AdminParts admin() {
        return admin;
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
