package io.warmpath.wiring.fleet;

import io.vertx.core.Vertx;
import io.warmpath.adapter.enginehttp.VertxEngineHttp;
import io.warmpath.adapter.openai.OpenAiModels;
import io.warmpath.adapter.sglang.SglangDialect;
import io.warmpath.adapter.trtllm.TrtllmDialect;
import io.warmpath.adapter.vllm.VllmDialect;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.engine.FleetConfig;
import io.warmpath.config.engine.HealthConfig;
import io.warmpath.events.EventFeed;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceMark;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.HealthOptions;
import io.warmpath.fleet.Openings;
import io.warmpath.fleet.PassiveHealth;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.address.GuardedProbe;
import io.warmpath.fleet.monitor.FleetMonitor;
import io.warmpath.fleet.monitor.LeftWorkers;
import io.warmpath.fleet.monitor.LoadPoll;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.fleet.probe.DialectProbe;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.PinProbe;
import io.warmpath.fleet.probe.PinSupports;
import io.warmpath.fleet.probe.WorkerProbe;
import io.warmpath.fleet.source.FleetSource;
import io.warmpath.fleet.source.FleetSources;
import io.warmpath.fleet.source.SourceName;
import io.warmpath.load.ActiveAdapters;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.SlotCredits;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.rates.TransferRates;
import io.warmpath.upstream.tls.EngineTls;
import io.warmpath.wiring.events.EventSubscriptions;
import io.warmpath.wiring.settings.StartFailure;
import io.warmpath.wiring.settings.WorkerSpecs;
import io.warmpath.wiring.tokens.ModelSettings;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The running fleet: registry, monitor, probes, subscriptions. {@link #start} and {@link #close}
 * once each.
 */
public final class FleetRuntime implements AutoCloseable {
    private static final Duration LEARN_MIN = Duration.ofMillis(250);
    private static final Duration LEARN_MAX = Duration.ofSeconds(5);
    private static final long MEDIA_CHECK_MILLIS = 1_000;
    private static final int SHOWN_ONLY_INTERVALS = 5;

    private static final Logger LOG = Logger.getLogger(FleetRuntime.class);

    private final FleetRegistry registry;
    private final FleetSources sources;
    private final List<FleetSource> following = new ArrayList<>();
    private final FleetMonitor monitor;
    private final LeftWorkers left;
    private final SignsOfLife signs;
    private final PassiveHealth passive;
    private final @Nullable LoadPoll loads;
    private volatile Waiting waiting = (slot, requests) -> {};
    private final TransferRates transfers = new TransferRates();
    private final ActiveAdapters adapters = new ActiveAdapters();
    private final FleetLoop loop;
    private final VertxEngineHttp http;
    private final ExecutorService probes;
    private final @Nullable EventSubscriptions subscriptions;
    private final Vertx vertx;
    private final AddressGuard guard;
    private long mediaTimer = -1;
    private volatile boolean closed;

    /**
     * @param tls towards engines behind https
     * @param signs when each engine was last heard of
     * @param guard where workers may be that the configuration does not name
     * @param feed null: no KV events are followed
     * @param credits told how far the events of each slot are believed
     * @param marks where a source is to go on that another process of ours has followed
     * @param load what runs where; told of every slot before it is seen
     * @param guarding loads count in decisions, whatever the routing mode
     */
    public FleetRuntime(
            WarmpathConfig config,
            Vertx vertx,
            EngineTls tls,
            SignsOfLife signs,
            AddressGuard guard,
            WorkerSlots slots,
            @Nullable EventFeed feed,
            SlotCredits credits,
            Function<EventSource, @Nullable SourceMark> marks,
            LoadTracker load,
            BooleanSupplier guarding) {
        this.vertx = vertx;
        this.signs = signs;
        this.guard = guard;
        FleetConfig fleet = config.fleet();
        registry = new FleetRegistry(slots, FleetRuntime::idOfUrl, load::forget);
        registry.openBy(
                new Openings(
                        System::nanoTime,
                        () -> ThreadLocalRandom.current().nextDouble(),
                        load::ownRequests,
                        config.health().slowStart(),
                        config.health().panicShare()));
        if (feed == null) {
            subscriptions = null;
        } else {
            subscriptions =
                    new EventSubscriptions(feed, credits, config.events().doubtfulCredit(), marks);
            registry.addListener(subscriptions);
        }
        registry.addListener(new FleetLog(feed != null && config.router().mode() == RouterMode.KV));
        http =
                new VertxEngineHttp(
                        vertx, fleet.healthTimeout(), tls::applyTo, tls.keys()::of, guard);
        probes = Executors.newVirtualThreadPerTaskExecutor();
        WorkerProbe probe =
                new GuardedProbe(
                        new DialectProbe(
                                http,
                                new OpenAiModels(),
                                List.of(
                                        new SglangDialect(),
                                        new TrtllmDialect(),
                                        new VllmDialect()),
                                fleet.healthPath(),
                                fleet.deepHealthTimeout(),
                                served -> ModelSettings.blockSize(config, served)),
                        guard);
        FleetMonitor.Timing timing =
                new FleetMonitor.Timing(
                        fleet.healthInterval(),
                        fleet.unhealthyInterval(),
                        fleet.failuresToUnhealthy(),
                        LEARN_MIN,
                        LEARN_MAX,
                        fleet.drainTimeout(),
                        config.health().slowStart(),
                        config.health().quiet(),
                        jitter(config.health().jitter()));
        monitor =
                new FleetMonitor(
                        registry,
                        probe,
                        probes,
                        System::nanoTime,
                        timing,
                        load::ownRequests,
                        this::lastSign);
        left =
                new LeftWorkers(
                        registry,
                        probe,
                        probes,
                        System::nanoTime,
                        timing,
                        load::runsOn,
                        (worker, otherwise) -> signs.last(worker.url(), otherwise));
        registry.addListener(signs);
        passive = passive(config.health(), registry);
        loads =
                config.health().loadInterval().isZero()
                        ? null
                        : new LoadPoll(
                                registry,
                                probe,
                                probes,
                                System::nanoTime,
                                loadInterval(config, guarding),
                                load::booked,
                                load::outside,
                                this::told);
        loop =
                new FleetLoop(
                        loads == null
                                ? List.of(monitor, left, passive)
                                : List.of(monitor, left, passive, loads));
        sources = new FleetSources(registry, LOG::warn);
        registry.addListener(
                new FleetListener() {
                    @Override
                    public void removed(Worker worker) {
                        // A pod of a StatefulSet comes back under its name while the one before
                        // it drains. Not here: the registry is locked.
                        if (!closed) {
                            probes.execute(sources::retryRefused);
                        }
                    }
                });
        configured(WorkerSpecs.of(config));
        if (config.configFile().isPresent() && !fleet.reloadInterval().isZero()) {
            follow(
                    new ConfigReload(
                            vertx,
                            Path.of(config.configFile().get()),
                            ConfigReload::workers,
                            fleet.reloadInterval()));
        }
    }

    /** Where no decision looks at loads they are asked for to be shown only. */
    static LongSupplier loadInterval(WarmpathConfig config, BooleanSupplier guarding) {
        long interval = config.health().loadInterval().toNanos();
        return switch (config.router().mode()) {
            case ROUND_ROBIN, RANDOM, DIRECT ->
                    () -> guarding.getAsBoolean() ? interval : interval * SHOWN_ONLY_INTERVALS;
            case KV, POWER_OF_TWO, LEAST_LOADED, VLLM_CACHE_AWARE -> () -> interval;
        };
    }

    private void configured(List<WorkerSpec> specs) {
        guarded(SourceName.CONFIG).replace(ConfigReload.byUrl(specs));
        sources.problems()
                .forEach(
                        (url, problem) -> {
                            throw new StartFailure("warmpath.workers: " + problem);
                        });
    }

    /** Begins to ask the workers. */
    public void start() {
        loop.start();
        following.forEach(source -> source.start(guarded(source.name())));
        if (subscriptions != null) {
            mediaTimer = vertx.setPeriodic(MEDIA_CHECK_MILLIS, id -> subscriptions.checkMedia());
        }
    }

    private FleetSource.Feed guarded(SourceName source) {
        return guard.feed(source, sources.feed(source));
    }

    public FleetRegistry registry() {
        return registry;
    }

    /** Throws {@link StartFailure} when the keys do not go together. */
    private static PassiveHealth passive(HealthConfig health, FleetRegistry registry) {
        try {
            return new PassiveHealth(
                    registry,
                    new HealthOptions(
                            health.failures(),
                            health.pauseMin(),
                            health.pauseMax(),
                            health.trials(),
                            health.latencyFactor(),
                            health.latencyFloor(),
                            health.latencyWindow(),
                            health.latencySamples()),
                    System::nanoTime);
        } catch (IllegalArgumentException e) {
            throw new StartFailure("warmpath.health: " + e.getMessage());
        }
    }

    private static LongUnaryOperator jitter(double share) {
        return nanos ->
                (long) (nanos * (1 + share * (2 * ThreadLocalRandom.current().nextDouble() - 1)));
    }

    /** Somebody else who names workers; started with this and closed with it. Before the start. */
    public final void follow(FleetSource source) {
        following.add(source);
    }

    /** Who sees to the requests of workers that fall silent; before the start. */
    public void silence(SilentWorkers workers) {
        registry.addListener(workers);
        left.seenToBy(workers);
    }

    /** Whether each of those who name workers is heard now; those that are configured only. */
    public Map<SourceName, Boolean> heard() {
        return following.stream()
                .collect(Collectors.toMap(FleetSource::name, FleetSource::connected, (a, b) -> a));
    }

    /** Told by who reads what engines send. */
    private long lastSign(Worker worker, long otherwise) {
        long heard = signs.last(worker.url(), otherwise);
        return subscriptions == null ? heard : subscriptions.lastEvent(worker, heard);
    }

    public AddressGuard addresses() {
        return guard;
    }

    /** Where workers are named. */
    public FleetSources sources() {
        return sources;
    }

    /** What the engines last said of a worker's ranks. */
    public Map<Integer, LoadPoll.Seen> engineLoads(long worker) {
        return loads == null ? Map.of() : loads.last(worker);
    }

    private void told(List<EngineLoad> said, long worker) {
        transfers.told(said, worker);
        adapters.told(said, worker);
        WorkerStatus status = registry.byId(worker);
        if (status == null) {
            return;
        }
        for (EngineLoad load : said) {
            for (Worker.Rank rank : status.worker().ranks()) {
                if (rank.dpRank() == load.dpRank()) {
                    waiting.set(rank.slot(), load.waiting());
                }
            }
        }
    }

    /** Is told from now on how many requests wait at a rank, each time that its engine says it. */
    public void onWaiting(Waiting listener) {
        waiting = listener;
    }

    /** Takes how many requests wait in a rank's queue. */
    @FunctionalInterface
    public interface Waiting {
        void set(WorkerSlot slot, int requests);
    }

    /** Which adapters have requests where. */
    public ActiveAdapters adapters() {
        return adapters;
    }

    /** How KV caches move between the engines. */
    public TransferRates transfers() {
        return transfers;
    }

    public PassiveHealth passiveHealth() {
        return passive;
    }

    public FleetMonitor monitor() {
        return monitor;
    }

    /** From now on every worker is asked how it can be made to keep a prefix. */
    public PinSupports pinSupports(PinProbe probe) {
        PinSupports supports =
                new PinSupports(
                        probe,
                        http,
                        probes,
                        LEARN_MAX,
                        id ->
                                registry.status().stream()
                                        .filter(s -> s.worker().id() == id)
                                        .findFirst()
                                        .map(s -> s.spec().pins())
                                        .orElse(null));
        registry.addListener(supports);
        return supports;
    }

    /** Null when KV events are off. */
    public @Nullable EventSubscriptions subscriptions() {
        return subscriptions;
    }

    public EventWatch eventWatch() {
        return subscriptions == null ? EventWatch.OFF : subscriptions;
    }

    /** Identity of a worker that has none configured; stable over restarts and gateways. */
    public static long idOfUrl(String url) {
        XXHash64 hash = XXHashFactory.fastestJavaInstance().hash64();
        byte[] bytes = url.getBytes(StandardCharsets.UTF_8);
        return hash.hash(bytes, 0, bytes.length, 0);
    }

    /** Stops asking, ends all subscriptions and frees all slots, which must still be there. */
    @Override
    public void close() {
        closed = true;
        vertx.cancelTimer(mediaTimer);
        following.forEach(FleetSource::close);
        loop.close();
        http.close();
        probes.close();
        registry.status().stream().map(WorkerStatus::worker).forEach(w -> registry.remove(w.id()));
    }
}
