package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.session.ControlledSession.Place;
import io.warmpath.session.ControlledSessions;
import io.warmpath.session.ControlledSessions.View;
import io.warmpath.session.SessionKey;
import io.warmpath.session.SessionTable;
import io.warmpath.session.SessionTable.Binding;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/**
 * Which rank sessions are bound to, those that a header names and those that clients open. For
 * operators; tenants are not shown, their names may be secrets. All bindings may be looked at.
 */
@Path("/sessions")
@Produces(MediaType.APPLICATION_JSON)
public class SessionsResource {
    private static final int DEFAULT_LIMIT = 1000;
    private static final int MAX_LIMIT = 100_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final SessionTable table;
    private final ControlledSessions controlled;
    private final Function<Place, String> idOnEngine;
    private final Fleet fleet;

    /** {@code idOnEngine}: what the engine calls a session that is there. */
    public SessionsResource(
            SessionTable table,
            ControlledSessions controlled,
            Function<Place, String> idOnEngine,
            Fleet fleet) {
        this.table = table;
        this.controlled = controlled;
        this.idOnEngine = idOnEngine;
        this.fleet = fleet;
    }

    /** {@code total}: of all sessions. */
    public record Sessions(String object, int total, List<Row> data) {}

    /**
     * @param controlled opened by its client, so that the engine keeps its tokens; else a header
     *     names it
     * @param state of a controlled one
     * @param worker absent when it has left
     * @param engineId what the engine calls it
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "Session")
    public record Row(
            String id,
            String model,
            boolean hasTenant,
            boolean controlled,
            @Nullable String state,
            @Nullable String workerId,
            @Nullable String worker,
            @Nullable Integer dpRank,
            @Nullable String keptBy,
            @Nullable String engineId,
            @Nullable Integer pinnedTokens,
            int turns,
            @Nullable Integer moves,
            @Nullable Integer timeoutS,
            @Nullable Long ageMs,
            long idleMs) {}

    @GET
    @Operation(summary = "Which rank sessions are bound to", description = "Tenants are not shown.")
    public Sessions all(
            @Parameter(
                            description = "Most rows to list; 1,000 when absent",
                            schema = @Schema(type = SchemaType.INTEGER, minimum = "1"))
                    @QueryParam("limit")
                    @Nullable String given) {
        int limit = Limits.limit(given, DEFAULT_LIMIT, MAX_LIMIT);
        List<View> open = controlled.list(limit, null);
        return answer(open, table.list(limit - open.size()));
    }

    @GET
    @Path("/{session}")
    @Operation(summary = "All bindings of one session")
    public Sessions one(@PathParam("session") String id) {
        Sessions found = answer(controlled.list(MAX_LIMIT, id), table.find(id));
        if (found.data().isEmpty()) {
            throw new NotFoundException();
        }
        return found;
    }

    @DELETE
    @Path("/{session}")
    @Operation(summary = "Ends the bindings of a session")
    public void end(@PathParam("session") String id) {
        if (controlled.closeAll(id) + table.endAll(id) == 0) {
            throw new NotFoundException();
        }
    }

    private Sessions answer(List<View> open, List<Binding> bound) {
        FleetSnapshot now = fleet.snapshot();
        return new Sessions(
                "list",
                table.size() + controlled.size(),
                Stream.concat(
                                open.stream().map(v -> row(v, now)),
                                bound.stream().map(b -> row(b, now)))
                        .toList());
    }

    private Row row(View v, FleetSnapshot now) {
        SessionKey key = v.key();
        Place at = v.place();
        return new Row(
                key.id(),
                key.scope().model(),
                !key.scope().tenant().isEmpty(),
                true,
                at == null ? "opening" : "open",
                at == null ? null : Long.toUnsignedString(at.worker()),
                at == null ? null : WorkerName.of(at.worker(), now),
                at == null ? null : at.dpRank(),
                at == null ? null : at.support().word(),
                at == null ? null : idOnEngine.apply(at),
                at == null ? null : at.held(),
                v.turns(),
                null,
                v.timeoutSeconds(),
                null,
                v.idleMillis());
    }

    private static Row row(Binding b, FleetSnapshot now) {
        SessionKey key = b.key();
        return new Row(
                key.id(),
                key.scope().model(),
                !key.scope().tenant().isEmpty(),
                false,
                null,
                Long.toUnsignedString(b.worker()),
                WorkerName.of(b.worker(), now),
                b.dpRank(),
                null,
                null,
                null,
                b.turns(),
                b.moves(),
                null,
                b.ageNanos() / NANOS_PER_MILLI,
                b.idleNanos() / NANOS_PER_MILLI);
    }
}
