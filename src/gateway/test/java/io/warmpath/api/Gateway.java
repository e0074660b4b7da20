package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.util.concurrent.EventExecutor;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.impl.VertxInternal;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.impl.ConnectionBase;
import io.warmpath.admission.Admission;
import io.warmpath.admission.AdmissionOptions;
import io.warmpath.api.admin.AdminAccess;
import io.warmpath.api.admin.AdminRoute;
import io.warmpath.api.admin.BusyThresholdResource;
import io.warmpath.api.admin.DecisionStream;
import io.warmpath.api.admin.DecisionStreamResource;
import io.warmpath.api.admin.DecisionsResource;
import io.warmpath.api.admin.GatewayInstance;
import io.warmpath.api.admin.ReplayResource;
import io.warmpath.api.client.ClientGate;
import io.warmpath.api.client.DirectResource;
import io.warmpath.api.client.InferenceResource;
import io.warmpath.api.client.MessagesResource;
import io.warmpath.api.client.TokenizeResource;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventTrust;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.RequestOutcome;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.probe.EngineTokenizer;
import io.warmpath.gateway.agent.EngineSessions;
import io.warmpath.gateway.agent.NextTurn;
import io.warmpath.gateway.agent.SessionCloser;
import io.warmpath.gateway.agent.SessionTurns;
import io.warmpath.gateway.answer.AnswerReport;
import io.warmpath.gateway.flow.FlowParts;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.gateway.flow.Moving;
import io.warmpath.gateway.flow.RequestFlow;
import io.warmpath.gateway.flow.Retries;
import io.warmpath.gateway.flow.Sending;
import io.warmpath.gateway.migration.Migration;
import io.warmpath.gateway.migration.MigrationOptions;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.pin.PinMetrics;
import io.warmpath.gateway.pin.Pins;
import io.warmpath.gateway.plan.EntranceParts;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.plan.Planning;
import io.warmpath.gateway.prompt.EngineIds;
import io.warmpath.gateway.prompt.IndexOverlaps;
import io.warmpath.gateway.prompt.Overlaps;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.prompt.TokenStep;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.load.ActiveAdapters;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PromptBlocks;
import io.warmpath.load.WorkerLoad;
import io.warmpath.prefix.ApplyResult;
import io.warmpath.prefix.HybridSlots;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.SlotBlocks;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.Choice;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.Score;
import io.warmpath.routing.Scores;
import io.warmpath.routing.Splitting;
import io.warmpath.routing.TransferCost;
import io.warmpath.routing.rates.Sent;
import io.warmpath.routing.rates.TransferRates;
import io.warmpath.session.Affinity;
import io.warmpath.session.AffinityOptions;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.PrefillBudget;
import io.warmpath.session.Rendezvous;
import io.warmpath.session.SessionNews;
import io.warmpath.session.SessionTable;
import io.warmpath.session.SharedSessions;
import io.warmpath.tokens.PromptTokens;
import io.warmpath.tokens.Tokenizing;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.ChatTemplate;
import io.warmpath.tokens.template.Continuation;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.upstream.AnswerTimeouts;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.KeyedEngineClient;
import io.warmpath.upstream.UpstreamOptions;
import io.warmpath.upstream.tls.EngineTls;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The real surface, flow and engine client over plain Vert.x, with made-up fleet, index, router,
 * tokens and load book that the test looks into.
 *
 * <p>The router takes the candidate with the lowest worker id, so tests know who is asked first.
 */
final class Gateway implements AutoCloseable {
    /** Tests fail more requests than any budget allows; the budget has tests of its own. */
    private static final Retries.Options RETRIES = new Retries.Options(2, 1, 1_000_000, 0, 0);

    static final String MODEL = "m";

    /** Of the objective `premium`, the only one. */
    static final int PREMIUM = 10;

    static final String CHAT = "/v1/chat/completions";
    static final String ASK =
            "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    static final String ASK_WHOLE =
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

    final Vertx vertx =
            Vertx.vertx(
                    new VertxOptions()
                            .setPreferNativeTransport(true) // as the product does
                            .setEventLoopPoolSize(2)
                            .setWorkerPoolSize(2));
    final Books books = new Books();
    final Admission admission;
    final FakeFleet fleet = new FakeFleet();
    final ActiveAdapters adapters = new ActiveAdapters();
    final FakeIndex index = new FakeIndex();
    final FakeTokens tokens = new FakeTokens();

    /** What /tokenize asks; nobody knows any prompt. */
    private static final Tokenizing NO_TOKENIZER =
            new Tokenizing() {
                @Override
                public Answer tokenize(
                        String model, PromptInput prompt, EngineProfile engine, Boolean special) {
                    return new NoTokenizer();
                }

                @Override
                public Answer detokenize(String model, int[] ids) {
                    return new NoTokenizer();
                }
            };

    private static final AffinityOptions SESSIONS =
            new AffinityOptions(
                    Duration.ofMinutes(5),
                    AffinityOptions.Mode.HARD,
                    AffinityOptions.Placement.COST,
                    100);

    final SessionTable sessions = new SessionTable(SESSIONS, System::nanoTime);

    /** Moves on by what is added to it. */
    final AtomicLong sessionNanos = new AtomicLong();

    final SessionCloser closer = new SessionCloser(vertx, fleet, 100);
    final ControlledSessions controlled =
            new ControlledSessions(
                    new ControlledSessions.Options(100, 4 << 10, 64 << 10, 0.5),
                    () -> System.nanoTime() + sessionNanos.get(),
                    closer);
    final FirstRouter router = new FirstRouter();
    final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    volatile EventWatch events = EventWatch.OFF;
    volatile EngineTokenizer engineTokens = EngineTokenizer.NONE;
    volatile boolean warm = true;
    volatile Tracing tracing = Tracing.NONE;
    final AtomicLong rooms = new AtomicLong(1_000);

    /** Client connections that the gateway has not yet seen the end of. */
    final AtomicInteger connections = new AtomicInteger();

    /**
     * Flushes that have reached clients' sockets, where they are {@link #countsFlushes counted}.
     */
    final AtomicLong flushes = new AtomicLong();

    /** Who counts stands in the way: all bytes of new connections go through the pipeline then. */
    volatile boolean countsFlushes;

    /** Of the client that came last. */
    volatile Channel client;

    final Migration migration;
    final int port;
    private final io.vertx.ext.web.Router routes;
    final Routes inference;
    final DecisionStream stream;
    private final AtomicInteger throughCodec = new AtomicInteger();
    private final EngineClient engines;

    private EngineSessions sessionsOnEngines() {
        EngineSessions sessions =
                new EngineSessions(
                        controlled,
                        new SharedSessions(
                                SessionNews.NONE, controlled, 0, System::nanoTime, () -> 0),
                        engines,
                        Duration.ofSeconds(2),
                        0xcafe);
        closer.through(sessions);
        return sessions;
    }

    Gateway(EnginePath path) throws Exception {
        this(path, GatewayOptions.defaults(), UpstreamOptions.defaults(), Runnable::run);
    }

    Gateway(EnginePath path, GatewayOptions limits, UpstreamOptions upstream, Executor tokenizers)
            throws Exception {
        this(path, limits, upstream, EngineTls.standard(), tokenizers, AdmissionOptions.OFF);
    }

    Gateway(EnginePath path, DecisionLog decisions) throws Exception {
        this(
                path,
                GatewayOptions.defaults(),
                UpstreamOptions.defaults(),
                EngineTls.standard(),
                Runnable::run,
                AdmissionOptions.OFF,
                decisions);
    }

    Gateway(
            EnginePath path,
            GatewayOptions limits,
            UpstreamOptions upstream,
            Executor tokenizers,
            AdmissionOptions admitted)
            throws Exception {
        this(path, limits, upstream, EngineTls.standard(), tokenizers, admitted);
    }

    Gateway(
            EnginePath path,
            GatewayOptions limits,
            UpstreamOptions upstream,
            EngineTls tls,
            Executor tokenizers,
            AdmissionOptions admitted)
            throws Exception {
        this(path, limits, upstream, tls, tokenizers, admitted, DecisionLog.OFF);
    }

    Gateway(
            EnginePath path,
            GatewayOptions limits,
            UpstreamOptions upstream,
            EngineTls tls,
            Executor tokenizers,
            AdmissionOptions admitted,
            DecisionLog decisions)
            throws Exception {
        this(
                path,
                limits,
                upstream,
                tls,
                tokenizers,
                admitted,
                decisions,
                NO_TOKENIZER,
                ModelNames.NONE,
                ClientGate.OPEN);
    }

    Gateway(EnginePath path, Tokenizing tokenizing, Executor tokenizers) throws Exception {
        this(
                path,
                GatewayOptions.defaults(),
                UpstreamOptions.defaults(),
                EngineTls.standard(),
                tokenizers,
                AdmissionOptions.OFF,
                DecisionLog.OFF,
                tokenizing,
                ModelNames.NONE,
                ClientGate.OPEN);
    }

    Gateway(EnginePath path, Tokenizing tokenizing, ModelNames names) throws Exception {
        this(
                path,
                GatewayOptions.defaults(),
                UpstreamOptions.defaults(),
                EngineTls.standard(),
                Runnable::run,
                AdmissionOptions.OFF,
                DecisionLog.OFF,
                tokenizing,
                names,
                ClientGate.OPEN);
    }

    Gateway(EnginePath path, EngineTls tls, ClientGate gate) throws Exception {
        this(
                path,
                GatewayOptions.defaults(),
                UpstreamOptions.defaults(),
                tls,
                Runnable::run,
                AdmissionOptions.OFF,
                DecisionLog.OFF,
                NO_TOKENIZER,
                ModelNames.NONE,
                gate);
    }

    Gateway(EnginePath path, UpstreamOptions upstream, MigrationOptions migrating)
            throws Exception {
        this(path, upstream, Runnable::run, migrating);
    }

    Gateway(
            EnginePath path,
            UpstreamOptions upstream,
            Executor tokenizers,
            MigrationOptions migrating)
            throws Exception {
        this(
                path,
                GatewayOptions.defaults(),
                upstream,
                EngineTls.standard(),
                tokenizers,
                AdmissionOptions.OFF,
                DecisionLog.OFF,
                NO_TOKENIZER,
                ModelNames.NONE,
                ClientGate.OPEN,
                migrating,
                RETRIES);
    }

    Gateway(EnginePath path, UpstreamOptions upstream, MigrationOptions migrating, ClientGate gate)
            throws Exception {
        this(
                path,
                GatewayOptions.defaults(),
                upstream,
                EngineTls.standard(),
                Runnable::run,
                AdmissionOptions.OFF,
                DecisionLog.OFF,
                NO_TOKENIZER,
                ModelNames.NONE,
                gate,
                migrating,
                RETRIES);
    }

    Gateway(EnginePath path, Retries.Options retrying) throws Exception {
        this(
                path,
                GatewayOptions.defaults(),
                UpstreamOptions.defaults(),
                EngineTls.standard(),
                Runnable::run,
                AdmissionOptions.OFF,
                DecisionLog.OFF,
                NO_TOKENIZER,
                ModelNames.NONE,
                ClientGate.OPEN,
                MigrationOptions.DEFAULTS,
                retrying);
    }

    private Gateway(
            EnginePath path,
            GatewayOptions limits,
            UpstreamOptions upstream,
            EngineTls tls,
            Executor tokenizers,
            AdmissionOptions admitted,
            DecisionLog decisions,
            Tokenizing tokenizing,
            ModelNames names,
            ClientGate gate)
            throws Exception {
        this(
                path,
                limits,
                upstream,
                tls,
                tokenizers,
                admitted,
                decisions,
                tokenizing,
                names,
                gate,
                MigrationOptions.OFF,
                RETRIES);
    }

    private Gateway(
            EnginePath path,
            GatewayOptions limits,
            UpstreamOptions upstream,
            EngineTls tls,
            Executor tokenizers,
            AdmissionOptions admitted,
            DecisionLog decisions,
            Tokenizing tokenizing,
            ModelNames names,
            ClientGate gate,
            MigrationOptions migrating,
            Retries.Options retrying)
            throws Exception {
        migration = new Migration(migrating, meters);
        admission = new Admission(admitted, books, System::nanoTime);
        GatewayOptions options = path.options(limits);
        engines = new KeyedEngineClient(path.engines(vertx, upstream, tls), tls.keys());
        FlowMetrics metrics =
                new FlowMetrics(meters, (r, visit, began) -> tracing.begin(r, visit, began));
        EventWatch watch =
                new EventWatch() {
                    @Override
                    public EventTrust of(Candidate rank) {
                        return events.of(rank);
                    }

                    @Override
                    public void computed(Candidate rank, long began) {
                        events.computed(rank, began);
                    }

                    @Override
                    public void listen(String tag, EventWatch.Stored listener) {
                        events.listen(tag, listener);
                    }
                };
        SelfCheck selfCheck =
                new SelfCheck(
                        (worker, question) -> engineTokens.tokens(worker, question),
                        Runnable::run,
                        meters,
                        System::nanoTime);
        Overlaps overlaps = IndexOverlaps.ofEvents(index);
        TokenLanes threads = lanes(tokenizers);
        Pins pins = Pins.off(new PinMetrics(meters));
        TokenStep tokenStep =
                new TokenStep(
                        tokens,
                        overlaps.prompts(),
                        overlaps.takesTexts(),
                        router.mode(),
                        threads,
                        options.tokenDeadline(),
                        metrics,
                        EngineIds.OFF,
                        null,
                        System::nanoTime);
        Planner planner =
                new Planner(
                        fleet,
                        overlaps,
                        router,
                        books,
                        metrics,
                        decisions,
                        options.classTolerations(),
                        watch,
                        selfCheck,
                        pins,
                        null,
                        System::nanoTime,
                        null,
                        new Splitting(TransferCost.NONE, new TransferRates(), OptionalLong.of(0)),
                        adapters);
        EntranceParts entrance =
                new EntranceParts(
                        planner, admission, metrics, options.retryAfter(), System::nanoTime);
        NextTurn.Parts nextTurns =
                new NextTurn.Parts(PrefillBudget.off(), books, threads, tokens, engines, metrics);
        RequestFlow flow =
                new RequestFlow(
                        new FlowParts(
                                new Planning(
                                        fleet,
                                        names,
                                        name -> name.equals("premium") ? PREMIUM : null,
                                        tokenStep,
                                        planner,
                                        entrance),
                                new SessionTurns(
                                        new Affinity(
                                                SESSIONS,
                                                new Rendezvous((bytes, seed) -> seed),
                                                sessions),
                                        sessionsOnEngines(),
                                        planner,
                                        admission,
                                        threads),
                                new Sending(
                                        books,
                                        engines,
                                        0,
                                        false,
                                        () -> rooms.addAndGet(0x9E3779B97F4A7C15L),
                                        pins,
                                        nextTurns,
                                        new AnswerReport.Parts(
                                                nextTurns.warmed(),
                                                null,
                                                selfCheck,
                                                watch,
                                                metrics)),
                                new Moving(migration, tokens, threads, selfCheck),
                                new Retries(retrying, System::nanoTime),
                                options,
                                metrics,
                                System::nanoTime));
        routes = io.vertx.ext.web.Router.router(vertx);
        AtomicLong ids = new AtomicLong();
        inference =
                new Routes(
                        fleet,
                        flow,
                        tokenizing,
                        lanes(tokenizers),
                        options,
                        metrics,
                        () -> warm ? "" : "warming up",
                        ids::incrementAndGet,
                        gate);
        inference.mount(routes);
        stream = new DecisionStream(vertx, decisions.feed(), new GatewayInstance("i1", "0.1"));
        AdminRoute.mount(
                routes,
                new AdminAccess(Optional.empty(), "page"),
                new DecisionsResource(decisions, InstantSource.system()),
                new DecisionStreamResource(stream),
                new ReplayResource(decisions),
                new BusyThresholdResource(admission, fleet),
                new InferenceResource(inference.apis()),
                new MessagesResource(inference.apis()),
                new DirectResource(inference.apis()),
                new TokenizeResource(inference.apis()));
        HttpServer server =
                vertx.createHttpServer(
                                new HttpServerOptions()
                                        .setMaxChunkSize(64 << 10)
                                        // With it, Vert.x 4.5 loses a request that says Upgrade:
                                        // h2c.
                                        .setHttp2ClearTextEnabled(false))
                        .connectionHandler(
                                connection -> {
                                    client = ((ConnectionBase) connection).channel();
                                    if (countsFlushes) {
                                        client.pipeline().addFirst(new FlushCounter(flushes));
                                    }
                                    if (path == EnginePath.RAW) {
                                        // Whoever unpacks requests has to see every byte.
                                        client.pipeline()
                                                .addFirst(
                                                        "inflater",
                                                        new ChannelInboundHandlerAdapter());
                                    }
                                    connections.incrementAndGet();
                                    // Vert.x 4.5 does not call a close handler when a pipelined
                                    // request is still queued.
                                    ((ConnectionBase) connection)
                                            .channel()
                                            .closeFuture()
                                            .addListener(f -> connections.decrementAndGet());
                                })
                        .requestHandler(
                                request -> {
                                    throughCodec.incrementAndGet();
                                    request.pause(); // as Quarkus does
                                    routes.handle(request);
                                });
        port =
                server.listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS)
                        .actualPort();
        if (path == EnginePath.PAST) {
            knowTheListener();
        }
    }

    /** Until a request has come by, nobody can know that the listener is one of this gateway. */
    private void knowTheListener() throws IOException {
        assertEquals(200, RawClient.request(port, "GET", "/live").status());
        await().until(() -> connections.get() == 0);
        throughCodec.set(0);
        client = null;
    }

    /** Requests that run past the server's codec. */
    int pastCodec() {
        return inference.rawRequests().running();
    }

    /** Requests that came through the server's codec. */
    int throughCodec() {
        return throughCodec.get();
    }

    /** Of the last connection. */
    boolean isClientFull() {
        return client != null && !client.isWritable();
    }

    /** Listens with TLS as well, for HTTP/2 where the client offers it. */
    int listenTls(Certificates.Identity own) {
        return vertx.createHttpServer(
                        new HttpServerOptions()
                                .setSsl(true)
                                .setUseAlpn(true)
                                .setKeyCertOptions(
                                        new PemKeyCertOptions()
                                                .setCertPath(own.certificate().toString())
                                                .setKeyPath(own.key().toString())))
                .requestHandler(
                        request -> {
                            throughCodec.incrementAndGet();
                            request.pause(); // as Quarkus does
                            routes.handle(request);
                        })
                .listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .join()
                .actualPort();
    }

    static UpstreamOptions upstream(Duration connect, Duration firstByte, Duration idle) {
        UpstreamOptions d = UpstreamOptions.defaults();
        return new UpstreamOptions(
                connect,
                new AnswerTimeouts(firstByte, idle),
                d.passThrough(),
                d.keepAlive(),
                d.maxConnectionsPerWorker(),
                d.gather());
    }

    static GatewayOptions limits(long body, int hold, int tail) {
        return Options.of(
                o -> {
                    o.maxBodyBytes = body;
                    o.holdBytes = hold;
                    o.tailBytes = tail;
                });
    }

    /** The worker fails its health checks. */
    void unwell(StubEngine worker, Duration patience) {
        engines.unwell(worker.url(), patience);
    }

    /** The worker has left the fleet; {@code lost}: and fails its health checks. */
    void left(StubEngine worker, Duration patience, boolean lost) {
        engines.left(worker.url(), patience, false);
        if (lost) {
            engines.left(worker.url(), patience, true);
        }
    }

    /** Pages of these origins may call. */
    void allow(CrossOrigin pages) {
        inference.allow(routes, pages);
    }

    void serve(StubEngine... workers) {
        List<Worker> list = new ArrayList<>();
        for (StubEngine engine : workers) {
            list.add(worker(list.size(), engine.url(), EngineKind.OPENAI, WorkerState.READY, 1));
        }
        fleet.workers(list);
    }

    static Worker worker(int id, URI url, EngineKind kind, WorkerState state, int ranks) {
        List<Worker.Rank> slots = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            slots.add(new Worker.Rank(rank, new WorkerSlot(id * 10 + rank)));
        }
        return Worker.builder(id, "w" + id, url)
                .kind(kind)
                .models(Set.of(MODEL))
                .blockSize(16)
                .state(state)
                .ranks(slots)
                .build();
    }

    /** A ready one that is set apart. */
    static Worker tainted(int id, URI url, String... taints) {
        Worker w = worker(id, url, EngineKind.OPENAI, WorkerState.READY, 1);
        return w.toBuilder().taints(Arrays.stream(taints).map(Taint::parse).toList()).build();
    }

    RawClient.Answer post(String json, String... headers) throws Exception {
        return RawClient.post(port, CHAT, json, headers);
    }

    double counter(String name, String tag, String value) {
        return meters.get(name).tag(tag, value).counter().count();
    }

    /**
     * What the loops have still to do, such as letting go of the buffers of closed connections; a
     * loop that ends before would show them as leaks.
     */
    private void runOutstandingTasks() {
        for (EventExecutor loop : ((VertxInternal) vertx).getEventLoopGroup()) {
            loop.submit(() -> {}).syncUninterruptibly();
        }
    }

    /** Forgets what the test's parts have noted so far; each note is copied with the next. */
    void forget() {
        fleet.failures.clear();
        books.prompts.clear();
        books.progress.clear();
        tokens.seen.clear();
        index.queries.clear();
        router.requests.clear();
        router.seen.clear();
    }

    /**
     * Nothing is left of what has been: no booking, no load on any rank, nobody in a queue. Waits
     * for connections that are just being closed.
     */
    private void assertNothingIsBooked() {
        await().untilAsserted(
                        () -> {
                            assertEquals(0, books.open(), "open bookings");
                            assertEquals(0, admission.waiting(), "waiting requests");
                        });
        assertEquals(0, books.closedTwice.get(), "bookings closed twice");
        for (WorkerSlot slot : books.slots) {
            assertEquals(WorkerLoad.IDLE, books.sums.load(slot), () -> "load of " + slot);
        }
        assertEquals(0, books.sums.stretches(), "blocks of requests that have ended");
    }

    /** Closes it and its engines when all requests have ended, each once, and no engine failed. */
    void close(StubEngine... served) throws Exception {
        await().untilAsserted(() -> assertEquals(0, books.open()));
        assertEquals(0, books.closedTwice.get());
        close();
        for (StubEngine engine : served) {
            engine.close();
            assertTrue(engine.failures.isEmpty(), () -> "engine: " + engine.failures);
        }
    }

    @Override
    public void close() {
        assertNothingIsBooked();
        engines.close();
        runOutstandingTasks();
        vertx.close()
                .toCompletionStage()
                .toCompletableFuture()
                .orTimeout(10, TimeUnit.SECONDS)
                .join();
    }

    private static final class FlushCounter extends ChannelOutboundHandlerAdapter {
        private final AtomicLong flushes;

        FlushCounter(AtomicLong flushes) {
            this.flushes = flushes;
        }

        @Override
        public void flush(ChannelHandlerContext context) {
            flushes.incrementAndGet();
            context.flush();
        }
    }

    static final class FakeFleet implements Fleet {
        volatile FleetSnapshot now = FleetSnapshot.EMPTY;
        final List<Long> failures = new CopyOnWriteArrayList<>();
        final List<Long> stalled = new CopyOnWriteArrayList<>();
        final List<Long> failed = new CopyOnWriteArrayList<>();
        final Map<Long, Duration> full = new ConcurrentHashMap<>();
        final AtomicLong firstTokens = new AtomicLong();
        volatile Runnable onFailure = () -> {};
        volatile Map<String, String> problems = Map.of();
        private final AtomicLong version = new AtomicLong();

        void workers(List<Worker> workers) {
            now = new FleetSnapshot(version.incrementAndGet(), workers);
        }

        @Override
        public FleetSnapshot snapshot() {
            return now;
        }

        @Override
        public Map<String, String> problems() {
            return problems;
        }

        @Override
        public void firstToken(long workerId, long nanos, int prefillTokens) {
            firstTokens.incrementAndGet();
        }

        @Override
        public void ended(long workerId, RequestOutcome outcome, long beganNanos) {
            if (outcome == RequestOutcome.FAILED) {
                failed.add(workerId);
            }
            if (outcome == RequestOutcome.STALLED) {
                stalled.add(workerId);
            }
        }

        @Override
        public void full(long workerId, Duration pause) {
            full.put(workerId, pause);
            become(workerId, WorkerState.FULL);
        }

        synchronized void become(long workerId, WorkerState state) {
            workers(
                    now.workers().stream()
                            .map(w -> w.id() == workerId ? w.toBuilder().state(state).build() : w)
                            .toList());
        }

        @Override
        public void reportFailure(long workerId) {
            failures.add(workerId);
            onFailure.run();
        }
    }

    static final class Books implements LoadBook {
        final AtomicLong open = new AtomicLong();
        final AtomicInteger booked = new AtomicInteger();
        final AtomicInteger firstTokens = new AtomicInteger();
        final AtomicInteger closedTwice = new AtomicInteger();
        volatile WorkerLoad added = WorkerLoad.IDLE;
        final List<PromptBlocks> prompts = new CopyOnWriteArrayList<>();
        final List<Integer> progress = new CopyOnWriteArrayList<>();
        final List<Double> weights = new CopyOnWriteArrayList<>();
        final LoadTracker sums = new LoadTracker();

        /** Those that anything was ever booked on. */
        final Set<WorkerSlot> slots = ConcurrentHashMap.newKeySet();

        /** As a {@link LoadBook} tells it; the tracker has its own. */
        volatile Duration expiry = Duration.ofMinutes(5);

        @Override
        public PromptBlocks name(String model, String salt, int[] tokens, int blockSize) {
            return sums.name(model, salt, tokens, blockSize);
        }

        @Override
        public Booking book(
                WorkerSlot slot, int prefillTokens, PromptBlocks prompt, int expectedOutput) {
            Booking sum = sums.book(slot, Math.max(0, prefillTokens), prompt, expectedOutput);
            slots.add(slot);
            prompts.add(prompt);
            AtomicBoolean closed = new AtomicBoolean();
            open.incrementAndGet();
            booked.incrementAndGet(); // last: tests wait for it
            return new Booking() {
                @Override
                public void firstToken() {
                    firstTokens.incrementAndGet();
                    sum.firstToken();
                }

                @Override
                public void progress(int outputTokens) {
                    progress.add(outputTokens);
                    sum.progress(outputTokens);
                }

                @Override
                public void progress(int outputTokens, double weight) {
                    progress.add(outputTokens);
                    weights.add(weight);
                    sum.progress(outputTokens, weight);
                }

                @Override
                public void close() {
                    sum.close();
                    if (closed.compareAndSet(false, true)) {
                        open.decrementAndGet();
                    } else {
                        closedTwice.incrementAndGet();
                    }
                }
            };
        }

        @Override
        public WorkerLoad load(WorkerSlot slot) {
            WorkerLoad own = sums.load(slot);
            return new WorkerLoad(
                    own.prefillTokens() + added.prefillTokens(),
                    own.blocks() + added.blocks(),
                    own.requests() + added.requests());
        }

        @Override
        public Duration expiry() {
            return expiry;
        }

        @Override
        public long open() {
            return open.get();
        }
    }

    /** An executor may have lanes of its own. */
    private static TokenLanes lanes(Executor tokenizers) {
        return tokenizers instanceof TokenLanes lanes ? lanes : TokenLanes.of(tokenizers);
    }

    static final class FakeTokens implements PromptTokens {
        volatile boolean cheap = true;
        volatile Later later = Later.BRIEF;
        volatile RuntimeException failure;
        volatile int[] ids = new int[40];

        /** In place of these, where a kind of engine is among the keys; empty: not known. */
        final Map<EngineProfile, int[]> idsOf = new ConcurrentHashMap<>();

        /** What goes on with a chat; null: it is not known. */
        volatile ChatTemplate template;

        final AtomicInteger asked = new AtomicInteger();
        volatile String thread = "";
        final List<PromptInput> seen = new CopyOnWriteArrayList<>();

        /** Told of each prompt before its ids are given. */
        volatile Consumer<PromptInput> first = prompt -> {};

        @Override
        public Continuation continuation(
                String model, PromptInput chat, String said, EngineProfile engine) {
            ChatTemplate known = template;
            return known == null || !(chat instanceof PromptInput.Chat plain)
                    ? Continuation.UNKNOWN
                    : known.continuation(plain, said, engine);
        }

        @Override
        public AtOnce atOnce(String model, PromptInput prompt, EngineProfile engine) {
            return cheap ? new Made(tokens(model, prompt, engine)) : later;
        }

        @Override
        public Optional<int[]> tokens(String model, PromptInput prompt, EngineProfile engine) {
            asked.incrementAndGet();
            seen.add(prompt);
            first.accept(prompt);
            thread = Thread.currentThread().getName();
            if (failure != null) {
                throw failure;
            }
            int[] own = idsOf.get(engine);
            return own == null
                    ? Optional.ofNullable(ids)
                    : Optional.of(own).filter(list -> list.length > 0);
        }
    }

    /** Everyone holds two blocks on the GPU and one more on the host, of any prompt. */
    static final class FakeIndex implements PrefixIndex {
        /** Of the first slot, with those on the host. */
        volatile int held = 3;

        volatile RuntimeException failure;
        final List<PrefixQuery> queries = new CopyOnWriteArrayList<>();

        @Override
        public WorkerSlot open(int domain) {
            throw new UnsupportedOperationException("slots come from the test");
        }

        @Override
        public WorkerSlot openApproximate(int domain) {
            throw new UnsupportedOperationException("slots come from the test");
        }

        @Override
        public long decide(WorkerSlot slot, PrefixQuery prompt, long nowMillis) {
            throw new UnsupportedOperationException("no slot takes decisions");
        }

        @Override
        public long expire(long nowMillis) {
            return 0;
        }

        @Override
        public void close(WorkerSlot slot) {
            throw new UnsupportedOperationException("slots come from the test");
        }

        @Override
        public ApplyResult apply(List<? extends PrefixEvent> events) {
            return ApplyResult.NONE;
        }

        @Override
        public PrefixMatch match(PrefixQuery query) {
            queries.add(query);
            if (failure != null) {
                throw failure;
            }
            return new PrefixMatch(
                    query.blockSize(),
                    query.blocks(),
                    new int[] {0, 10, 20},
                    new int[] {2, held, held, held, 2, 3, 3, 3, 2, 3, 3, 3});
        }

        @Override
        public HybridSlots hybrids() {
            throw new UnsupportedOperationException("nobody tells events");
        }

        @Override
        public SlotBlocks slotBlocks() {
            return SlotBlocks.NONE;
        }

        @Override
        public IndexStats stats() {
            return IndexStats.EMPTY;
        }

        @Override
        public void close() {}
    }

    static final class FirstRouter implements Router {
        final List<RoutingRequest> requests = new CopyOnWriteArrayList<>();
        final List<String> seen = new CopyOnWriteArrayList<>();
        volatile RuntimeException bug;
        volatile double cost = 3.5;

        /** Until prompts whose first token is not seen should be computed. */
        volatile long prefillNanos = Sent.NOT_KNOWN;

        /** Decides in its place; null: it does so itself. */
        volatile Router instead;

        @Override
        public Sent sent(RoutingDecision decision, boolean streamed) {
            String worker = decision.chosen().candidate().label();
            seen.add(worker + (streamed ? " streams" : " answers"));
            return new Sent() {
                @Override
                public void firstToken() {
                    seen.add(worker + " first token");
                }

                @Override
                public void ended(long outputTokens) {
                    seen.add(worker + " ended " + outputTokens);
                }

                @Override
                public long prefillNanos() {
                    return streamed ? NOT_KNOWN : prefillNanos;
                }

                @Override
                public void prefilled() {
                    prefillNanos = 0;
                }
            };
        }

        @Override
        public RoutingDecision decide(RoutingRequest request) {
            requests.add(request);
            if (bug != null) {
                throw bug;
            }
            if (instead != null) {
                return instead.decide(request);
            }
            Candidate chosen = null;
            for (Candidate c : request.candidates()) {
                boolean worker =
                        request.pinnedWorker().isEmpty()
                                || request.pinnedWorker().getAsLong() == c.worker().id();
                boolean rank =
                        request.pinnedRank().isEmpty()
                                || request.pinnedRank().getAsInt() == c.dpRank();
                if (worker && rank && chosen == null) {
                    chosen = c;
                }
            }
            if (chosen == null) {
                throw new GatewayException(
                        new GatewayError.BadRequest("backend_instance_id", "no such worker"));
            }
            PrefixMatch match = request.matches().isEmpty() ? null : request.matches().get(0);
            int gpu = match == null ? 0 : match.depth(chosen.slot(), Tier.GPU);
            int host = match == null ? 0 : match.depth(chosen.slot(), Tier.HOST);
            int cached = host * 16;
            Score score =
                    new Score(
                            chosen,
                            gpu,
                            host,
                            host,
                            host,
                            0,
                            cached,
                            request.promptTokens() - cached,
                            0.5,
                            3,
                            cost);
            Choice choice = new Choice(Choice.Kind.LOWEST_COST, 0, 1, 1, 3.5, 3.5, Double.NaN, 0);
            return new RoutingDecision(
                    request, RouterOptions.of(RouterMode.KV), choice, score, 3, Scores.NONE);
        }

        @Override
        public RouterMode mode() {
            return RouterMode.KV;
        }
    }
}
