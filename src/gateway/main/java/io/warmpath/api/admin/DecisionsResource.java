package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.KeptDecision;
import io.warmpath.gateway.observe.KeptDecision.End;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.UriInfo;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.ParameterIn;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** The last decisions, the latest first. For admins: they tell of other callers' requests. */
@Path("/router/decisions")
@Produces(MediaType.APPLICATION_JSON)
public class DecisionsResource {
    private static final int DEFAULT_LIMIT = 100;
    private static final int MOST_ROWS = 10_000;

    /** Of explanations in one answer. */
    private static final int MOST_CHARS = 32 << 20;

    private static final List<String> PARAMETERS =
            Stream.concat(
                            DecisionFilter.NAMES.stream(),
                            Stream.of("since", "number", "limit", "detail"))
                    .toList();

    private final DecisionLog log;
    private final InstantSource clock;

    public DecisionsResource(DecisionLog log, InstantSource clock) {
        this.log = log;
        this.clock = clock;
    }

    /**
     * @param enabled decisions are kept
     * @param truncated true: more rows were wanted than fit into one answer
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Decisions(
            boolean enabled, Kept kept, @Nullable Boolean truncated, List<DecisionRow> decisions) {}

    /**
     * What is kept.
     *
     * @param leftOut decisions that came too fast to be kept, since the start
     * @param since of the oldest one; absent: none is kept
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "KeptDecisions")
    public record Kept(
            int decisions,
            long bytes,
            int mostDecisions,
            long mostBytes,
            long leftOut,
            @Nullable String since) {}

    @GET
    @Operation(
            summary = "The last routing decisions, the latest first",
            description = "As many as --explain-decisions and its bounds keep.")
    @Parameter(name = "request_id", in = ParameterIn.QUERY)
    @Parameter(name = "worker", in = ParameterIn.QUERY, description = "Its name")
    @Parameter(name = "tenant", in = ParameterIn.QUERY)
    @Parameter(name = "model", in = ParameterIn.QUERY)
    @Parameter(name = "session", in = ParameterIn.QUERY)
    @Parameter(
            name = "outcome",
            in = ParameterIn.QUERY,
            schema = @Schema(enumeration = {"running", "ok", "failed"}))
    @Parameter(
            name = "since",
            in = ParameterIn.QUERY,
            description = "A time in ISO 8601, or how long ago: 300s, 5m, 2h")
    @Parameter(
            name = "number",
            in = ParameterIn.QUERY,
            description = "The one of this number",
            schema = @Schema(type = SchemaType.INTEGER, minimum = "0"))
    @Parameter(
            name = "limit",
            in = ParameterIn.QUERY,
            description = "Most rows to list",
            schema =
                    @Schema(
                            type = SchemaType.INTEGER,
                            minimum = "1",
                            maximum = "10000",
                            defaultValue = "100"))
    @Parameter(
            name = "detail",
            in = ParameterIn.QUERY,
            description = "false: without the member `decision`",
            schema = @Schema(type = SchemaType.BOOLEAN, defaultValue = "true"))
    public Decisions latest(@Context UriInfo uri) {
        Query query = new Query(uri, PARAMETERS);
        DecisionFilter filter = DecisionFilter.of(query);
        Instant since = query.since("since", clock.instant());
        Long number = query.number("number");
        int limit = Limits.limit(query.text("limit"), DEFAULT_LIMIT, MOST_ROWS);
        boolean detail = query.flag("detail", true);
        List<DecisionRow> rows = new ArrayList<>();
        boolean truncated = false;
        long chars = 0;
        for (KeptDecision kept : log.latest(Integer.MAX_VALUE)) {
            End end = kept.end();
            boolean wanted =
                    (number == null || number == kept.number())
                            && (since == null || !kept.at().isBefore(since))
                            && filter.fits(kept, end);
            if (!wanted) {
                continue;
            }
            if (rows.size() == limit) {
                break;
            }
            if (chars > MOST_CHARS) {
                truncated = true;
                break;
            }
            DecisionRow row = DecisionRow.of(kept, end, detail);
            String whole = row.decision();
            chars += whole == null ? 0 : whole.length();
            rows.add(row);
        }
        return new Decisions(
                log.bounds().decisions() > 0, kept(), truncated ? Boolean.TRUE : null, rows);
    }

    private Kept kept() {
        DecisionLog.Held held = log.held();
        Instant since = held.since();
        return new Kept(
                held.decisions(),
                held.bytes(),
                log.bounds().decisions(),
                log.bounds().bytes(),
                held.leftOut(),
                since == null ? null : since.toString());
    }
}
