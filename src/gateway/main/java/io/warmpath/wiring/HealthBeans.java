package io.warmpath.wiring;

import io.warmpath.api.health.DependencyCheck;
import io.warmpath.api.health.DependencyCheck.Report;
import io.warmpath.events.SourceReport;
import io.warmpath.fleet.EventView;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.source.SourceName;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.replica.PeerStatus;
import io.warmpath.replica.ReplicaSync;
import io.warmpath.wiring.tokens.TokenOrigins;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;
import org.eclipse.microprofile.health.Readiness;
import org.eclipse.microprofile.health.Startup;

/**
 * The checks of {@code /q/health}. {@code engines} and {@code gateway} are DOWN when {@code /ready}
 * says 503; all others are UP, whatever their state.
 */
@Singleton
class HealthBeans {
    /** The index may say something that is not true of these sources. */
    private static final Set<EventView> LOST =
            EnumSet.of(EventView.GAP, EventView.FROZEN, EventView.GONE);

    private final GatewayBean gateway;
    private final HealthParts parts;
    private final AdminParts admin;

    @Inject
    HealthBeans(GatewayBean gateway) {
        this.gateway = gateway;
        this.parts = gateway.health();
        this.admin = gateway.admin();
    }

    /** UP as long as this process answers at all. */
    @Produces
    @Singleton
    @Liveness
    HealthCheck process() {
        return () -> HealthCheckResponse.up("process");
    }

    /** UP once the warm-up that needs no engine has ended, however it ended. */
    @Produces
    @Singleton
    @Startup
    HealthCheck warmUp() {
        return () -> HealthCheckResponse.named("warm-up").status(gateway.warmup().done()).build();
    }

    @Produces
    @Singleton
    @Readiness
    HealthCheck gateway() {
        return () -> {
            String waiting = parts.notReady().get();
            return DependencyCheck.response(
                    "gateway", waiting.isEmpty(), waiting.isEmpty() ? "ready" : waiting, Map.of());
        };
    }

    /** Without any that gets requests its data say what is wrong with each. */
    @Produces
    @Singleton
    @Readiness
    HealthCheck engines() {
        return () -> {
            FleetSnapshot now = parts.fleet().snapshot();
            long ready = now.workers().stream().filter(Worker::available).count();
            Map<String, Object> data = new TreeMap<>();
            data.put("ready", ready);
            data.put("total", now.workers().size());
            data.put("models", now.models().size());
            if (!now.anyAvailable()) {
                parts.fleet().problems().forEach((name, why) -> data.put("worker " + name, why));
            }
            return DependencyCheck.response(
                    "engines",
                    now.anyAvailable(),
                    !now.anyAvailable()
                            ? "waiting for a worker"
                            : ready == now.workers().size() ? "working" : "degraded",
                    data);
        };
    }

    @Produces
    @Singleton
    @Readiness
    HealthCheck index() {
        return new DependencyCheck(
                "index",
                () ->
                        parts.index()
                                .map(kind -> Report.of(true, Map.of("implementation", kind)))
                                .orElse(Report.OFF));
    }

    /** How many ranks' event sources are in each state. */
    @Produces
    @Singleton
    @Readiness
    HealthCheck eventSources() {
        return new DependencyCheck(
                "event-sources",
                () -> {
                    if (!admin.workers().followsEvents()) {
                        return Report.OFF;
                    }
                    List<SourceReport> sources = admin.eventSources().get();
                    Map<String, Object> data = new TreeMap<>();
                    sources.forEach(s -> count(s.status().state().word(), data));
                    return Report.of(
                            sources.stream().noneMatch(s -> LOST.contains(s.status().state())),
                            data);
                });
    }

    /** How many (worker, model) pairs have the tokens of their prompts from where. */
    @Produces
    @Singleton
    @Readiness
    HealthCheck tokenizer() {
        return new DependencyCheck(
                "tokenizer",
                () -> {
                    Map<String, Object> data = new TreeMap<>();
                    parts.fleet()
                            .snapshot()
                            .workers()
                            .forEach(
                                    w ->
                                            admin.workers()
                                                    .tokens()
                                                    .apply(w)
                                                    .values()
                                                    .forEach(origin -> count(origin, data)));
                    boolean byText =
                            data.containsKey(TokenOrigins.Origin.TEXT.word())
                                    || data.containsKey(TokenOrigins.Origin.NONE.word());
                    return Report.of(!byText, data);
                });
    }

    /** Connections that are configured: for events, for workers that register, among replicas. */
    @Produces
    @Singleton
    @Readiness
    HealthCheck nats() {
        return new DependencyCheck(
                "nats",
                () -> {
                    Map<String, Boolean> up = new TreeMap<>();
                    parts.natsEvents().get().ifPresent(is -> up.put("events", is));
                    Boolean workers = parts.fleetSources().get().get(SourceName.NATS);
                    if (workers != null) {
                        up.put("workers", workers);
                    }
                    admin.replicas().ifPresent(sync -> up.put("replicas", sync.isUp()));
                    return connections(up);
                });
    }

    @Produces
    @Singleton
    @Readiness
    HealthCheck kubernetes() {
        return new DependencyCheck(
                "kubernetes",
                () -> {
                    Boolean up = parts.fleetSources().get().get(SourceName.KUBERNETES);
                    if (up == null) {
                        return Report.OFF;
                    }
                    String lacks = parts.poolLacks().get();
                    return Report.of(
                            up && lacks.isEmpty(),
                            lacks.isEmpty() ? Map.of() : Map.of("workers", lacks));
                });
    }

    /** Degraded while requests with bodies are refused because memory is full. */
    @Produces
    @Singleton
    @Readiness
    HealthCheck memory() {
        return new DependencyCheck(
                "memory",
                () ->
                        Report.of(
                                !parts.memory().full(),
                                Map.of(
                                        "resident",
                                        parts.memory().resident(),
                                        "limit",
                                        parts.memory().limit())));
    }

    /** How many there are, and how many of them answer; addresses are not told. */
    @Produces
    @Singleton
    @Readiness
    HealthCheck sharedPool() {
        return new DependencyCheck(
                "shared-pool", () -> parts.pools().map(p -> pools(p.get())).orElse(Report.OFF));
    }

    @Produces
    @Singleton
    @Readiness
    HealthCheck replicas() {
        return new DependencyCheck(
                "replicas", () -> admin.replicas().map(HealthBeans::replicas).orElse(Report.OFF));
    }

    private static Report replicas(ReplicaSync sync) {
        List<PeerStatus> peers = sync.peers();
        long counted = peers.stream().filter(PeerStatus::counted).count();
        return Report.of(
                sync.isUp() && counted == peers.size(),
                Map.of("peers", peers.size(), "counted", counted));
    }

    private static Report connections(Map<String, Boolean> up) {
        return up.isEmpty() ? Report.OFF : Report.of(!up.containsValue(false), new TreeMap<>(up));
    }

    private static Report pools(SharedCache.Answering now) {
        return Report.of(
                now.answering() == now.pools(),
                Map.of("pools", now.pools(), "answering", now.answering()));
    }

    private static void count(String word, Map<String, Object> counts) {
        counts.merge(word, 1, (a, b) -> (Integer) a + (Integer) b);
    }
}
