package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.events.SourceReport;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.prefix.SlotBlocks;
import io.warmpath.routing.NotExact;
import io.warmpath.usage.FleetHistory;
import io.warmpath.usage.WorkerHistory;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.ParameterIn;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/**
 * The gateway and all workers with their load and how they did: what a console shows. Made anew
 * after a second, for all who ask.
 */
@Path("/fleet")
@Produces(MediaType.APPLICATION_JSON)
public class FleetResource {
    private static final Duration KEPT = Duration.ofSeconds(1);

    private final FleetRegistry fleet;
    private final WorkerFacts workers;
    private final FleetFacts facts;
    private final GatewayInstance instance;
    private final Supplier<List<SourceReport>> sources;
    private final InstantSource clock;
    private @Nullable Made made; // guarded by this

    /** {@code sources}: where the KV events of each rank stand. */
    public FleetResource(
            FleetRegistry fleet,
            WorkerFacts workers,
            FleetFacts facts,
            GatewayInstance instance,
            Supplier<List<SourceReport>> sources,
            InstantSource clock) {
        this.fleet = fleet;
        this.workers = workers;
        this.facts = facts;
        this.instance = instance;
        this.sources = sources;
        this.clock = clock;
    }

    private record Made(Instant at, View withoutHistory, AtomicReference<View> whole) {
        /** With the past, which is put together for the first who asks for it. */
        View whole(FleetHistory past) {
            View known = whole.get();
            if (known == null) {
                known =
                        new View(
                                withoutHistory.gateway(),
                                withoutHistory.workers().stream().map(w -> w.with(past)).toList());
                whole.set(known); // by two at once: either
            }
            return known;
        }
    }

    @Schema(name = "Fleet")
    public record View(Gateway gateway, List<FleetWorker> workers) {}

    /**
     * @param instance another one after a restart
     * @param cost that decides; absent where none does
     * @param degraded why the gateway does less than it could, in sentences; empty: it does not
     * @param requestsPerS that ended, a mean of the last minute
     * @param hitRate cached part of the prompt tokens of the last five minutes, of engines that
     *     report it
     * @param ttftMs mean time to the first token of the last five minutes, from a request's last
     *     byte
     * @param notExact answers whose cached tokens were not predicted, or not exactly, by why, since
     *     the start
     * @param queued requests that wait for a rank with room
     * @param active requests, the waiting ones included
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "FleetGateway")
    public record Gateway(
            String version,
            String instance,
            String started,
            boolean ready,
            String mode,
            @Nullable String cost,
            List<String> models,
            List<String> degraded,
            double requestsPerS,
            @Nullable Double hitRate,
            @Nullable Double ttftMs,
            List<NotPredicted> notExact,
            long queued,
            long active) {}

    /** {@code reason}: as metrics name it. {@code words}: for people. */
    @Schema(name = "FleetNotExact")
    public record NotPredicted(String reason, String words, String more, long answers) {
        private static NotPredicted of(NotExact why, long answers) {
            return new NotPredicted(why.label(), why.words(), why.more(), answers);
        }
    }

    @GET
    @Operation(
            summary = "The gateway and all workers, with their load and how they did",
            description = "A second old at most. Means are of the last five minutes.")
    @Parameter(
            name = "history",
            in = ParameterIn.QUERY,
            description = "false: without the last quarter of an hour of each worker",
            schema = @Schema(type = SchemaType.BOOLEAN, defaultValue = "true"))
    public View fleet(@Context UriInfo uri) {
        boolean history = new Query(uri, List.of("history")).flag("history", true);
        Made now = made();
        return history ? now.whole(facts.history()) : now.withoutHistory();
    }

    private synchronized Made made() {
        Instant now = clock.instant();
        Made last = made;
        if (last != null
                && !now.isBefore(last.at())
                && Duration.between(last.at(), now).compareTo(KEPT) < 0) {
            return last;
        }
        List<WorkerStatus> all = fleet.status();
        List<SourceReport> reports = FleetTroubles.expected(all, sources.get());
        Map<Long, List<SourceReport>> byWorker =
                reports.stream().collect(Collectors.groupingBy(SourceReport::workerId));
        SlotBlocks blocks = facts.blocks().get();
        List<FleetWorker> rows =
                all.stream()
                        .map(
                                s ->
                                        FleetWorker.of(
                                                s,
                                                byWorker.getOrDefault(s.worker().id(), List.of()),
                                                workers,
                                                facts,
                                                blocks))
                        .toList();
        Gateway gateway = gateway(all, reports);
        Made fresh = new Made(now, new View(gateway, rows), new AtomicReference<>());
        made = fresh;
        return fresh;
    }

    private Gateway gateway(List<WorkerStatus> all, List<SourceReport> reports) {
        WorkerHistory.Recent recent = facts.history().gateway();
        boolean costs = facts.router().mode().comparesCosts();
        return new Gateway(
                instance.version(),
                instance.id(),
                facts.started().toString(),
                fleet.snapshot().anyAvailable() && facts.notReady().get().isEmpty(),
                facts.router().mode().flag(),
                costs ? facts.router().cost().flag() : null,
                List.copyOf(new TreeSet<>(fleet.snapshot().models())),
                FleetTroubles.of(all, reports, workers, facts),
                facts.history().requestsPerSecond(),
                recent.hitRate(),
                recent.firstTokenMillis(),
                facts.notExact().get().entrySet().stream()
                        .map(e -> NotPredicted.of(e.getKey(), e.getValue()))
                        .toList(),
                facts.waiting().getAsLong(),
                facts.active().getAsLong());
    }
}
