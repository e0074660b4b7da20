package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.warmpath.adapter.nativeindex.NativeBpeTokenizer;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.adapter.zmq.ZmqEventFeed;
import io.warmpath.admission.Admission;
import io.warmpath.admission.AdmissionOptions;
import io.warmpath.api.ClientGate;
import io.warmpath.api.RawRequests;
import io.warmpath.api.Routes;
import io.warmpath.api.admin.AdminAccess;
import io.warmpath.api.admin.WorkerFacts;
import io.warmpath.config.AdminConfig;
import io.warmpath.config.EngineFiles;
import io.warmpath.config.EventPlane;
import io.warmpath.config.EventsConfig;
import io.warmpath.config.MigrationConfig;
import io.warmpath.config.RawPath;
import io.warmpath.config.RetryConfig;
import io.warmpath.config.RouterConfig;
import io.warmpath.config.TokenizerImplementation;
import io.warmpath.config.TokensConfig;
import io.warmpath.config.UpstreamConfig;
import io.warmpath.config.UpstreamTlsConfig;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed;
import io.warmpath.events.PostedFeed;
import io.warmpath.events.SourceSession;
import io.warmpath.fleet.AddressGuard;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.SignsOfLife;
import io.warmpath.fleet.SourceName;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.ClientBounds;
import io.warmpath.gateway.DecisionLog;
import io.warmpath.gateway.EngineIds;
import io.warmpath.gateway.EngineSessions;
import io.warmpath.gateway.FlowMetrics;
import io.warmpath.gateway.GatewayOptions;
import io.warmpath.gateway.ModelNames;
import io.warmpath.gateway.Overlaps;
import io.warmpath.gateway.PinMetrics;
import io.warmpath.gateway.Pins;
import io.warmpath.gateway.RequestFlow;
import io.warmpath.gateway.Retries;
import io.warmpath.gateway.migration.Migration;
import io.warmpath.gateway.migration.MigrationOptions;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.load.BookingListener;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.Routers;
import io.warmpath.session.Affinity;
import io.warmpath.session.PrefillBudget;
import io.warmpath.tokens.ModelFolders;
import io.warmpath.tokens.ModelLoader;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.PromptInput;
import io.warmpath.tokens.PromptTokens;
import io.warmpath.tokens.TokensOptions;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.upstream.AnswerTimeouts;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.EngineKeys;
import io.warmpath.upstream.EngineTls;
import io.warmpath.upstream.KeyedEngineClient;
import io.warmpath.upstream.RawEngineClient;
import io.warmpath.upstream.UpstreamOptions;
import io.warmpath.upstream.VertxEngineClient;
import io.warmpath.wiring.control.Announcements;
import io.warmpath.wiring.warmup.WarmStart;
import io.warmpath.wiring.warmup.Warmup;
import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
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
    private final ModelNames models;
    private final ModelTokens tokens;
    private final ModelReloads reloads;
    private final TokenOrigins origins;
    private final TokenThreads tokenThreads;
    private final @Nullable NatsLink nats;
    private final @Nullable EventFeed feed;
    private final FleetRuntime fleet;
    private final EngineQuestions questions;
    private final SharedCacheParts sharedCache;
    private final EngineClient engines;
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
        models = ModelSettings.names(config);
        tokens =
                new ModelTokens(
                        ModelSettings.sources(config),
                        loader(config.tokens(), config.index().nativePath().map(Path::of)),
                        TokensOptions.DEFAULT,
                        System::nanoTime);
        reloads = new ModelReloads(vertx, tokens, config.tokens().reloadInterval());
        caches = new OverlapParts(config, System::nanoTime);
        NatsLink link =
                caches.followsEvents() && config.events().plane() == EventPlane.NATS
                        ? NatsParts.open(config.nats())
                        : null;
        nats = link;
        state =
                new StateParts(
                        config.state(),
                        caches,
                        link == null ? null : () -> shared(config, link, control));
        replicas = new ReplicaParts(config);
        load = loadTracker(config.router(), replicas.secret(), replicas.listener());
        admission = new Admission(AdmissionSetup.options(config), load, System::nanoTime);
        this.vertx = vertx;
        AddressGuard addresses = AddressSetup.guard(config.addresses());
        EventCounters events = new EventCounters();
        PrefixIndex index = caches.index();
        PostedFeed posted = null;
        if (index == null || !caches.followsEvents()) {
            feed = null;
        } else {
            posted = posted(config, index, events);
            feed =
                    new FeedsByEndpoint(
                            link == null
                                    ? feed(config, index, events, addresses)
                                    : NatsParts.feed(
                                            config, link, index, events, meters, state.position()),
                            posted);
        }
        clients = new ClientParts(config.auth(), vertx);
        EngineTls tls = tls(config.upstream().tls(), clients.engineKeys());
        watch(config.upstream().tls(), tls, clients);
        fleet =
                new FleetRuntime(
                        config,
                        vertx,
                        tls,
                        addresses,
                        state.slots(),
                        feed,
                        caches.credits(),
                        state::mark,
                        load,
                        admission::guarding);
        KubernetesParts.source(config.kubernetes(), meters).ifPresent(fleet::follow);
        RegistrationParts.source(config, meters).ifPresent(fleet::follow);
        tokenThreads = new TokenThreads(config.tokens().threads(), config.tokens().queueSize());
        sharedCache =
                new SharedCacheParts(
                        config, vertx, tokenThreads::brief, meters, addresses, System::nanoTime);
        SharedCache shared = sharedCache.cache();
        if (shared != null) {
            fleet.registry().addListener(shared);
        }
        engines = engines(config, vertx, tls, addresses, fleet.signs());
        fleet.registry().addListener(new SilentWorkers(engines, config.health().silence()));
        questions = new EngineQuestions(vertx, tls, addresses);
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
                                        warmupParts(config, vertx, target)),
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
                        tokenThreads,
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
        io.warmpath.routing.Router chooser = router(config, load, router, decisions.log());
        routes =
                routes(
                        fleet.registry(),
                        tokens,
                        load,
                        admission,
                        engines,
                        caches.overlaps(),
                        chooser,
                        options(config, config.http().maxBodySize().bytes()),
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
                        migration(config.migration(), meters),
                        retries(config.retry()),
                        this::notReady,
                        clients.gate());
        GatewayMeters.bind(meters, index, load, fleet, events, tokens, caches.overlaps().prompts());
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
                        Optional.ofNullable(posted),
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
        RequestFlow flow =
                new RequestFlow(
                        fleet,
                        models,
                        tokens,
                        overlaps,
                        router,
                        load,
                        admission,
                        engines,
                        tokenThreads,
                        options,
                        metrics,
                        decisions,
                        events,
                        selfCheck,
                        engineIds,
                        affinity,
                        prefills,
                        engineSessions,
                        pins,
                        shared,
                        migration,
                        retries,
                        System::nanoTime);
        return new Routes(
                fleet,
                flow,
                this.tokens,
                tokenThreads,
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
    private Warmup.Parts warmupParts(WarmpathConfig config, Vertx vertx, Warmup.Target target) {
        EngineClient apart =
                engines(config, vertx, EngineTls.standard(), fleet.addresses(), new SignsOfLife());
        // Its visitor names no worker, and its prompts are larger than the smallest limit.
        RouterOptions told = RouterSettings.options(config.router());
        RouterOptions kept = told.mode() == RouterMode.DIRECT ? told.with(RouterMode.KV) : told;
        long body = Math.max(WARMUP_BODY_BYTES, config.http().maxBodySize().bytes());
        PromptTokens prompts =
                tokens.has(target.model()) ? tokens.apart(WARMUP_CACHE_BYTES) : new NoTokens();
        return new Warmup.Parts() {
            @Override
            public void mount(Router router, Fleet fleet, FlowMetrics metrics) {
                LoadTracker apartLoad =
                        loadTracker(
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
                                router(config, apartLoad, kept, DecisionLog.OFF),
                                options(config, body).with(ClientBounds.OFF),
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
                                migration(config.migration(), new SimpleMeterRegistry()),
                                retries(config.retry()),
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

    /** For a model without a tokenizer here: says so to nobody. */
    private static final class NoTokens implements PromptTokens {
        @Override
        public AtOnce atOnce(String model, PromptInput prompt, EngineProfile engine) {
            return new Made(Optional.empty());
        }

        @Override
        public Optional<int[]> tokens(String model, PromptInput prompt, EngineProfile engine) {
            return Optional.empty();
        }
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
        reloads.start();
        clients.start();
        warmup.start();
    }

    @Override
    public void close() {
        vertx.cancelTimer(queueTimer);
        reloads.close();
        clients.close();
        warmup.close();
        questions.close();
        sessions.close();
        pins.close();
        replicas.close();
        state.close();
        fleet.close();
        sharedCache.close();
        if (feed != null) {
            feed.close();
        }
        if (nats != null) {
            nats.close();
        }
        tokenThreads.close();
        engines.close();
        decisions.close();
        telemetry.close();
        tokens.close();
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

    private static ModelLoader loader(TokensConfig config, Optional<Path> library) {
        return config.implementation() == TokenizerImplementation.AUTO
                ? new HuggingFaceModelLoader(parts -> new NativeBpeTokenizer(library, parts))
                : new HuggingFaceModelLoader();
    }

    private static ZmqEventFeed feed(
            WarmpathConfig all, PrefixIndex index, EventCounters counters, AddressGuard addresses) {
        EventsConfig config = all.events();
        return new ZmqEventFeed(
                index,
                counters,
                new ZmqEventFeed.Settings(
                        config.replayTimeout(),
                        config.auditInterval(),
                        config.stallTimeout(),
                        all.state().expiry(),
                        config.reconnectMinDelay(),
                        config.reconnectMaxDelay()),
                System::nanoTime,
                addresses);
    }

    private static SnapshotPlace shared(
            WarmpathConfig config, NatsLink link, Announcements control) {
        NatsNames names = NatsParts.names(config.nats());
        String router = NatsParts.routerId(config.nats(), config.http().port());
        control.open(link, names, router);
        return new SharedPlace(config.state().shared(), link, names, router, control);
    }

    private static PostedFeed posted(
            WarmpathConfig all, PrefixIndex index, EventCounters counters) {
        EventsConfig config = all.events();
        return new PostedFeed(
                index,
                counters,
                new SourceSession.Timing(
                        config.replayTimeout().toNanos(),
                        config.auditInterval().toNanos(),
                        config.stallTimeout().toNanos()),
                System::nanoTime);
    }

    private static LoadTracker loadTracker(RouterConfig r, long secret, BookingListener listener) {
        return new LoadTracker(System::nanoTime, RouterSettings.load(r), secret, listener);
    }

    private static EngineClient engines(
            WarmpathConfig config,
            Vertx vertx,
            EngineTls tls,
            AddressGuard addresses,
            SignsOfLife signs) {
        UpstreamOptions options = upstream(config.upstream(), config.http().gather());
        EngineClient usual =
                new VertxEngineClient(vertx, options, tls, addresses, signs, System::nanoTime);
        EngineClient client =
                config.upstream().rawPath() == RawPath.AUTO
                        ? new RawEngineClient(
                                options, tls, usual, addresses, signs, System::nanoTime)
                        : usual;
        return new KeyedEngineClient(client, tls.keys());
    }

    /**
     * @throws StartFailure when a file cannot be used
     */
    private static EngineTls tls(UpstreamTlsConfig config, EngineKeys keys) {
        try {
            return new EngineTls(
                    config.caFile().map(Path::of).orElse(null),
                    config.certFile().map(Path::of).orElse(null),
                    config.keyFile().map(Path::of).orElse(null),
                    config.verify(),
                    keys);
        } catch (IllegalArgumentException e) {
            throw new StartFailure("TLS to engines (warmpath.upstream.tls): " + e.getMessage());
        }
    }

    private static void watch(UpstreamTlsConfig files, EngineTls tls, ClientParts watcher) {
        Stream.of(files.caFile(), files.certFile(), files.keyFile())
                .flatMap(Optional::stream)
                .forEach(f -> watcher.watch(f, "warmpath.upstream.tls", text -> tls.reload()));
    }

    private static UpstreamOptions upstream(UpstreamConfig u, int gatherMicros) {
        return new UpstreamOptions(
                u.connectTimeout(),
                new AnswerTimeouts(u.firstByteTimeout(), u.idleTimeout()),
                new AnswerTimeouts(
                        u.passThrough().firstByteTimeout(), u.passThrough().idleTimeout()),
                u.keepAliveTimeout(),
                u.maxConnectionsPerWorker(),
                Duration.ofNanos(1000L * gatherMicros));
    }

    private static io.warmpath.routing.Router router(
            WarmpathConfig config, LoadBook load, RouterOptions options, DecisionLog log) {
        return Routers.create(
                options,
                VllmCacheAwareSettings.options(config.routing().vllmCacheAware()),
                VllmCacheAwareSettings.perModel(config.routing().vllmCacheAware()),
                load,
                ThreadLocalRandom::current,
                System::nanoTime,
                log.isOn());
    }

    private static Migration migration(MigrationConfig config, MeterRegistry meters) {
        return new Migration(
                new MigrationOptions(
                        config.limit(),
                        (int) Math.min(config.maxSize().bytes(), Integer.MAX_VALUE),
                        config.maxMemory().bytes()),
                meters);
    }

    private static Retries retries(RetryConfig config) {
        return new Retries(
                new Retries.Options(
                        config.maxWorkers(),
                        config.budget(),
                        config.budgetPerSecond(),
                        config.hedgePercentile(),
                        config.hedgeShare()),
                System::nanoTime);
    }

    private static GatewayOptions options(WarmpathConfig config, long maxBodyBytes) {
        GatewayOptions d = GatewayOptions.defaults();
        return new GatewayOptions(
                maxBodyBytes,
                d.holdBytes(),
                d.tailBytes(),
                GatewayOptions.Explain.valueOf(config.explain().headers().name()),
                config.tokens().deadline(),
                config.http().retryAfter(),
                d.bodyLinger(),
                config.upstream().requestUsage() && RouterSettings.predictsCache(config.router()),
                config.upstream().forwardNvext(),
                config.upstream().rawPath() == RawPath.AUTO,
                RouterSettings.classTolerations(config.router()),
                ClientSettings.bounds(config.http(), maxBodyBytes));
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
