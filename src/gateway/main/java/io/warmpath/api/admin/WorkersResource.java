package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonCreator;
import io.smallrye.common.annotation.NonBlocking;
import io.vertx.core.http.HttpServerRequest;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.DuplicateWorkerException;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.metadata.MetadataException;
import io.warmpath.fleet.source.FleetSources;
import io.warmpath.fleet.source.WorkerFields;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.jboss.resteasy.reactive.ResponseStatus;
import org.jspecify.annotations.Nullable;

/** The fleet. What locks the registry runs off the event loops. */
@Path("/workers")
@Produces(MediaType.APPLICATION_JSON)
public class WorkersResource {
    private static final int MOST_WORKERS = 4096;
    private static final int MOST_REASON = 200;

    private final FleetRegistry fleet;
    private final FleetSources sources;
    private final AddressGuard addresses;
    private final WorkerFacts facts;

    /** {@code addresses}: where workers may be. */
    public WorkersResource(
            FleetRegistry fleet, FleetSources sources, AddressGuard addresses, WorkerFacts facts) {
        this.fleet = fleet;
        this.sources = sources;
        this.addresses = addresses;
        this.facts = facts;
    }

    /** A worker's record, or fields to change, as {@link WorkerFields} says. */
    @PostedBody.Limit(bytes = 32 << 10)
    public record Fields(Map<String, Object> fields) implements PostedBody {
        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        public Fields {}
    }

    @GET
    @NonBlocking
    @Operation(summary = "All workers")
    public AdminList<WorkerRow> all() {
        return new AdminList<>(fleet.status().stream().map(this::row).toList());
    }

    @POST
    @Operation(summary = "Adds a worker", description = "It gets requests once it is healthy.")
    @ResponseStatus(202)
    public WorkerRow add(
            @RequestBody(
                            required = true,
                            content =
                                    @Content(
                                            mediaType = "application/json",
                                            schema = @Schema(ref = "WorkerRecord")))
                    @Nullable Fields body,
            @Parameter(hidden = true) @HeaderParam("content-type") @Nullable String type,
            @Context HttpServerRequest request) {
        WorkerSpec spec = spec(body, type, request, WorkerFields::spec);
        if (fleet.status().size() >= MOST_WORKERS) {
            throw InvalidRequest.bad(
                    "", "There are " + MOST_WORKERS + " workers; no more can be posted.");
        }
        return changed(() -> sources.add(spec));
    }

    @GET
    @Path("/{worker}")
    @NonBlocking
    @Operation(summary = "One worker, by its name or id")
    public WorkerRow one(@PathParam("worker") String name) {
        return row(find(name));
    }

    @PATCH
    @Operation(summary = "Changes fields of a worker")
    @Path("/{worker}")
    @ResponseStatus(202)
    public WorkerRow change(
            @PathParam("worker") String name,
            @RequestBody(
                            required = true,
                            content =
                                    @Content(
                                            mediaType = "application/json",
                                            schema = @Schema(ref = "WorkerRecord")))
                    @Nullable Fields body,
            @Parameter(hidden = true) @HeaderParam("content-type") @Nullable String type,
            @Context HttpServerRequest request) {
        var url = find(name).worker().url();
        WorkerSpec spec = spec(body, type, request, fields -> WorkerFields.patch(url, fields));
        return changed(() -> sources.change(spec));
    }

    @DELETE
    @Operation(summary = "Removes a worker once its running requests have ended")
    @Path("/{worker}")
    @ResponseStatus(202)
    public WorkerRow remove(@PathParam("worker") String name) {
        WorkerStatus last = find(name);
        sources.withdraw(last.worker().url());
        // An idle worker that drains may have gone before it can be shown.
        return fleet.find(last.worker().name())
                .map(this::row)
                .orElseGet(
                        () ->
                                WorkerRow.of(
                                        last,
                                        "draining",
                                        sources.sources(last.worker().url()),
                                        facts));
    }

    /**
     * @param reason for the log, {@code GET /workers}, and clients when nobody else serves the
     *     model
     */
    @PostedBody.Limit(bytes = 4 << 10)
    public record Drain(@Nullable String reason) implements PostedBody {}

    @POST
    @Path("/{worker}/drain")
    @Operation(
            summary = "Lets a worker finish what it has and gives it nothing new",
            description =
                    "It stays listed, as `drained`, over health checks, changed records and"
                            + " restarts of its engine, until it is resumed. Not over a restart of"
                            + " the gateway, and at this gateway only.")
    @ResponseStatus(202)
    public WorkerRow drain(
            @PathParam("worker") String name,
            @RequestBody(
                            content =
                                    @Content(
                                            mediaType = "application/json",
                                            schema = @Schema(implementation = Drain.class)))
                    @Nullable Drain body) {
        Worker worker = find(name).worker();
        sources.drain(worker.url(), reason(body));
        return row(find(worker.name()));
    }

    private static String reason(@Nullable Drain body) {
        String reason = body == null || body.reason() == null ? "" : body.reason().strip();
        if (reason.length() > MOST_REASON || reason.chars().anyMatch(Character::isISOControl)) {
            throw InvalidRequest.bad(
                    "reason",
                    "`reason` must be at most " + MOST_REASON + " characters on one line.");
        }
        return reason;
    }

    @POST
    @Path("/{worker}/resume")
    @Operation(
            summary = "Ends a drain",
            description = "The worker is asked for its health, and gets requests once it answers.")
    @ResponseStatus(202)
    public WorkerRow resume(@PathParam("worker") String name) {
        WorkerStatus s = find(name);
        try {
            sources.resume(s.worker().url());
        } catch (IllegalStateException e) {
            throw InvalidRequest.bad(
                    "",
                    "Worker %s is being removed (%s); POST /workers adds it again."
                            .formatted(s.worker().name(), s.problem()));
        }
        return row(find(s.worker().name()));
    }

    private WorkerStatus find(String name) {
        return fleet.find(name)
                .orElseThrow(
                        () ->
                                new GatewayException(
                                        new GatewayError.NoSuchWorker(name, names(fleet))));
    }

    private static List<String> names(FleetRegistry fleet) {
        return fleet.status().stream().map(s -> s.worker().name()).toList();
    }

    private WorkerRow row(WorkerStatus status) {
        return WorkerRow.of(status, sources.sources(status.worker().url()), facts);
    }

    private WorkerSpec spec(
            @Nullable Fields body,
            @Nullable String type,
            HttpServerRequest request,
            Function<Map<?, ?>, WorkerSpec> read) {
        if (type == null || !type.startsWith("application/json")) {
            throw InvalidRequest.bad("", "Send the worker as application/json.");
        }
        try {
            if (body == null) {
                throw new IllegalArgumentException("The body is not JSON.");
            }
            WorkerSpec spec = read.apply(body.fields());
            addresses
                    .refusal(spec, AdminAccess.isOfThisMachine(request))
                    .ifPresent(
                            why -> {
                                throw new IllegalArgumentException(why);
                            });
            return spec;
        } catch (MetadataException e) {
            throw InvalidRequest.bad(e.path(), String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) {
            throw InvalidRequest.bad("", String.valueOf(e.getMessage()));
        }
    }

    /** The worker as it is after a change. */
    private WorkerRow changed(Supplier<Worker> change) {
        try {
            Worker worker = change.get();
            return row(find(worker.name()));
        } catch (DuplicateWorkerException e) {
            throw InvalidRequest.bad("url", String.valueOf(e.getMessage()));
        }
    }
}
