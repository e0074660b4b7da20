package io.warmpath.api.admin;

import io.warmpath.gateway.observe.DecisionLog;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** The last decisions, the latest first. For admins: they tell of other callers' requests. */
@Path("/router/decisions")
@Produces(MediaType.APPLICATION_JSON)
public class DecisionsResource {
    private static final int DEFAULT_LIMIT = 100;

    private final DecisionLog log;

    public DecisionsResource(DecisionLog log) {
        this.log = log;
    }

    /**
     * @param enabled decisions are kept
     */
    public record Decisions(boolean enabled, List<DecisionRow> decisions) {}

    @GET
    @Operation(
            summary = "The last routing decisions, the latest first",
            description = "Kept with --explain-decisions.")
    public Decisions latest(
            @Parameter(
                            description = "Most rows to list; 100 when absent",
                            schema = @Schema(type = SchemaType.INTEGER, minimum = "1"))
                    @QueryParam("limit")
                    @Nullable String limit) {
        return new Decisions(
                log.isOn(),
                log
                        .latest(Limits.limit(limit, DEFAULT_LIMIT, Integer.MAX_VALUE))
                        .reversed()
                        .stream()
                        .map(DecisionRow::of)
                        .toList());
    }
}
