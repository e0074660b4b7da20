package io.warmpath.wiring;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.adapter.zmq.MessageRoom;
import io.warmpath.api.admin.GatewayInstance;
import io.warmpath.api.picker.PickerMeters;
import io.warmpath.events.EventCounters;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Profiles;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.ServedModels;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.fleet.probe.EngineTokenizer;
import io.warmpath.gateway.agent.SessionCloser;
import io.warmpath.gateway.migration.Migration;
import io.warmpath.gateway.migration.MigrationOptions;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.pin.PinMetrics;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.gateway.shared.SharedOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.pool.LmcacheInstances;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.SlotCredits;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.repository.RecordedText;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.modes.Routers;
import io.warmpath.routing.rates.LatencyPriors;
import io.warmpath.session.AffinityOptions;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.SessionTable;
import io.warmpath.session.pin.PinFile;
import io.warmpath.session.pin.PinLedger;
import io.warmpath.state.SnapshotCounters;
import io.warmpath.telemetry.ClientMeters;
import io.warmpath.telemetry.KubernetesMeters;
import io.warmpath.telemetry.MetricAliases;
import io.warmpath.telemetry.RegistrationMeters;
import io.warmpath.telemetry.ReplicaMeters;
import io.warmpath.telemetry.SessionMeters;
import io.warmpath.telemetry.StateMeters;
import io.warmpath.telemetry.TenantMeters;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.upstream.tls.EngineTls;
import io.warmpath.usage.RequestUse;
import io.warmpath.usage.UsageBook;
import io.warmpath.wiring.channel.RecordChannels;
import io.warmpath.wiring.fleet.FleetRuntime;
import io.warmpath.wiring.index.LmcacheParts;
import io.warmpath.wiring.index.OverlapParts;
import io.warmpath.wiring.memory.MemoryParts;
import io.warmpath.wiring.memory.MemoryPlan;
import io.warmpath.wiring.settings.AddressSetup;
import io.warmpath.wiring.tokens.EngineQuestions;
import io.warmpath.wiring.tokens.TokenOrigins;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** {@code src/docs/reference/metrics.md} lists exactly the meters that exist. */
class MetricsDocsTest {
    private static final Path FILE = Path.of("src/docs/reference/metrics.md");
    private static final MemoryPlan PLAN = new MemoryPlan(2L << 30, 1L << 30);

    /** Named as dashboards made for Dynamo's router have them. */
    private static final Set<String> DYNAMOS =
            Set.of("router_shared_cache_hit_rate", "router_shared_cache_beyond_blocks");

    /** What is known of one meter name over all its tags. */
    private record Row(String kind, String doc, Map<String, Set<String>> tags) {}

    @Test
    void the_table_of_metrics_is_current() throws IOException {
        RecordedText.same(FILE, markdown(meters()));
    }

    @Test
    void every_metric_is_ours_and_says_what_it_is() {
        Map<String, Row> rows = meters();
        assertTrue(rows.size() > 20, "only " + rows.keySet());
        assertTrue(rows.keySet().containsAll(DYNAMOS), rows.keySet().toString());
        rows.forEach(
                (name, row) -> {
                    assertTrue(
                            name.startsWith("warmpath_")
                                    || (DYNAMOS.contains(name) && row.kind().endsWith("summary")),
                            name + " " + row.kind());
                    assertTrue(row.doc().length() > 10, name);
                });
    }

    private static Map<String, Row> meters() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        ReferencePrefixIndex index = new ReferencePrefixIndex();
        LoadTracker load = new LoadTracker();
        FlowMetrics flow = new FlowMetrics(registry);
        flow.predictions().compared("w", 1, 1);
        flow.serves("m");
        flow.bodies(new BodyMemory(1));
        new Migration(MigrationOptions.DEFAULTS, registry).moved(Migration.Cause.BROKE);
        compareOnce(registry);
        RecordChannels.bindOff(registry);
        new UsageBook(1, () -> 0, new TenantMeters(registry))
                .count(RequestUse.refused("acme", "m"));
        Vertx vertx = Vertx.vertx();
        try (DecisionParts decisions =
                        new DecisionParts(
                                TestConfig.of(Map.of()).explain(),
                                vertx,
                                new GatewayInstance("i", "0"),
                                registry,
                                null);
                FleetRuntime fleet =
                        new FleetRuntime(
                                TestConfig.of(
                                        Map.of(
                                                "warmpath.worker-urls",
                                                "http://127.0.0.1:1,http://127.0.0.1:2,http://127.0.0.1:3")),
                                vertx,
                                EngineTls.standard(),
                                new SignsOfLife(),
                                AddressSetup.guard(TestConfig.of(Map.of()).addresses()),
                                index,
                                new TestFeed(),
                                new SlotCredits(),
                                source -> null,
                                load,
                                () -> false)) {
            serveOneModel(fleet.registry());
            GatewayMeters.bind(
                    registry,
                    index,
                    load,
                    fleet,
                    new EventCounters(),
                    TestConfig.noTokens(),
                    null,
                    keepingSpeeds(load));
            for (Map<String, String> mode :
                    List.of(
                            Map.of("warmpath.router.predicted-ttl", "5s"),
                            Map.of("warmpath.router.mode", "vllm-cache-aware"))) {
                try (OverlapParts caches =
                        new OverlapParts(TestConfig.of(mode), PLAN, System::nanoTime)) {
                    caches.bind(registry);
                }
            }
            new TokenOrigins(model -> true, Map.of(), UnaryOperator.identity(), true, worker -> {})
                    .bind(registry, List::of, worker -> false);
            try (EngineQuestions questions =
                    new EngineQuestions(vertx, EngineTls.standard(), fleet.addresses(), PLAN)) {
                questions.bind(registry);
            }
            KubernetesMeters.bind(registry, "source", s -> true, s -> 0.0, s -> 0.0, s -> 0.0);
            KubernetesMeters.bindPool(registry, "source", s -> 0.0, s -> 0.0, s -> 0.0);
            RegistrationMeters.bind(
                    registry, "source", s -> true, s -> 0.0, s -> 0.0, s -> 0.0, s -> 0.0);
            ClientMeters.bind(
                    registry, HttpServerSetup.limits(TestConfig.of(Map.of()).http().clients()));
            new PickerMeters(registry);
            ClientMeters.bindProxies(
                    registry, PickerListener.limits(TestConfig.of(Map.of()).http().clients()));
            new MemoryParts(PLAN, full -> {}, registry).close();
            StateMeters.bind(registry, new SnapshotCounters());
            new PinMetrics(registry)
                    .bind(
                            new PinLedger(
                                    new PinLedger.Options(1, 1, 1, 1),
                                    new PinFile.Content(0, List.of()),
                                    () -> 0));
            SessionMeters.bind(registry, new SessionTable(AffinityOptions.OFF, () -> 0));
            SessionMeters.bind(
                    registry,
                    new ControlledSessions(
                            new ControlledSessions.Options(1, 0, 0, 0), () -> 0, at -> {}),
                    new SessionCloser(vertx, fleet.registry(), 1));
            ReplicaMeters.bind(registry, TestReplicas.alone(load, fleet.registry()));
            new SharedCache(
                            new SharedOptions(
                                    SharedOptions.Kind.HICACHE,
                                    Duration.ZERO,
                                    List.of(),
                                    "",
                                    Duration.ofHours(1)),
                            layout -> {
                                throw new IllegalStateException("nobody joins");
                            },
                            registry,
                            () -> 0)
                    .close();
            LmcacheParts.meters(
                    registry, new LmcacheInstances(1), new MessageRoom(1), () -> 0, () -> 0);
            assertTrue(decisions.log().isOn());
            return rows(registry);
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    /** A ready worker of each role that serves, for what there is by model. */
    private static void serveOneModel(FleetRegistry fleet) {
        Iterator<WorkerStatus> workers = fleet.status().iterator();
        for (Role role : List.of(Role.BOTH, Role.PREFILL, Role.DECODE)) {
            fleet.learnt(
                    workers.next().worker().id(),
                    Profiles.of(
                            EngineKind.OPENAI,
                            ServedModels.of(Set.of("m")),
                            new Disaggregation(role, true, 0, "")),
                    false);
        }
    }

    private static Router keepingSpeeds(LoadTracker load) {
        return Routers.create(
                RouterOptions.of(RouterMode.KV).with(CostKind.LATENCY, LatencyPriors.DEFAULT),
                load,
                ThreadLocalRandom::current);
    }

    /** Meters that come with what is compared. */
    private static void compareOnce(MeterRegistry registry) {
        SelfCheck check = new SelfCheck(EngineTokenizer.NONE, Runnable::run, registry, () -> 0);
        for (EngineKind kind : EngineKind.values()) {
            Worker worker =
                    Worker.builder(1, "w", URI.create("http://w"))
                            .kind(kind)
                            .models(Set.of("m"))
                            .blockSize(16)
                            .ranks(List.of(new Worker.Rank(0, new WorkerSlot(0))))
                            .build();
            for (PromptInput prompt :
                    List.of(
                            new PromptInput.Text("a"),
                            new PromptInput.Chat(List.of(), true),
                            new PromptInput.Conversation(
                                    1, () -> ChatRequest.of(List.of(), true)))) {
                check.sent("m", worker, prompt, 1, () -> new int[1], () -> null);
            }
        }
    }

    private static Map<String, Row> rows(SimpleMeterRegistry registry) {
        Map<String, Row> rows = new TreeMap<>();
        for (Meter meter : registry.getMeters()) {
            Meter.Id id = meter.getId();
            if (id.getTag("le") != null) {
                continue; // this registry's way to show a histogram's buckets
            }
            String name = prometheusName(id);
            String doc = id.getDescription() == null ? "" : id.getDescription();
            String kind = id.getType().name().toLowerCase(Locale.ROOT);
            Row row = rows.computeIfAbsent(name, n -> new Row(kind, doc, new TreeMap<>()));
            for (Tag tag : id.getTags()) {
                row.tags().computeIfAbsent(tag.getKey(), k -> new TreeSet<>()).add(tag.getValue());
            }
        }
        return rows;
    }

    /** Dots become underscores, counters end in total, timers in their unit. */
    private static String prometheusName(Meter.Id id) {
        String name = id.getName().replace('.', '_');
        return switch (id.getType()) {
            case COUNTER -> name + "_total";
            case TIMER -> name + "_seconds";
            default -> name;
        };
    }

    private static String markdown(Map<String, Row> rows) {
        StringBuilder out = new StringBuilder();
        out.append(
                """
                # Metrics

                Made from the code by `MetricsDocsTest`; do not edit. Served at `/metrics` in Prometheus' text
                format, beside the meters of the JVM and the process.

                | metric | kind | tags | what it is |
                |---|---|---|---|
                """);
        rows.forEach(
                (name, row) ->
                        out.append("| `")
                                .append(name)
                                .append("` | ")
                                .append(row.kind())
                                .append(" | ")
                                .append(tags(row.tags()))
                                .append(" | ")
                                .append(row.doc())
                                .append(" |\n"));
        out.append(
                """

                ## Under other names

                The same once more as Dynamo's frontend and router call it, with our tags; read at the scrape.
                `warmpath.telemetry.dynamo-names=false` leaves them out.

                | name | ours |
                |---|---|
                """);
        for (MetricAliases.Alias a : MetricAliases.ALL) {
            out.append("| `")
                    .append(a.name())
                    .append("` | `")
                    .append(a.ours())
                    .append('`')
                    .append(a.only().isEmpty() ? "" : " where `" + a.only() + "`")
                    .append(a.factor() == 1 ? "" : ", in milliseconds")
                    .append(" |\n");
        }
        return out.toString();
    }

    private static String tags(Map<String, Set<String>> tags) {
        return String.join(
                "; ",
                tags.entrySet().stream()
                        .map(
                                e ->
                                        Set.of("worker", "rank", "model", "tenant")
                                                        .contains(e.getKey())
                                                ? e.getKey()
                                                : e.getKey()
                                                        + ": "
                                                        + String.join(" ", e.getValue()))
                        .toList());
    }
}
