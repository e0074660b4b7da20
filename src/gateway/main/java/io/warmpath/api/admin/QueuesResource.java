package io.warmpath.api.admin;

import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.smallrye.common.annotation.NonBlocking;
import io.warmpath.admission.Admission;
import io.warmpath.admission.TenantShare;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** Who waits for which model, and whose turn it is. For operators: it names tenants. */
@Path("/queues")
@Produces(MediaType.APPLICATION_JSON)
public class QueuesResource {
    private static final int DEFAULT_LIMIT = 50;
    private static final int MAX_LIMIT = 10_000;
    private static final double NANOS_PER_MILLI = 1e6;

    private final Admission admission;

    public QueuesResource(Admission admission) {
        this.admission = admission;
    }

    /** One row for each class of each model that has had a request. */
    public record Queues(String object, List<Queue> data) {}

    /** {@code tenants}: that wait, or have had more than others lately. */
    @JsonNaming(SnakeCaseStrategy.class)
    public record Queue(String model, String policyClass, List<Tenant> tenants) {}

    /**
     * @param tenant a key without one counts for itself: {@code key:NAME}
     * @param share of the work that it gets while the same tenants wait
     * @param oldestMs how long the first of its requests has waited
     * @param started requests, since nobody waited last
     * @param refused requests, since nobody waited last: it had its part of the places
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "QueuedTenant")
    public record Tenant(
            String tenant,
            int weight,
            double share,
            int waiting,
            double oldestMs,
            long started,
            long refused) {
        private static Tenant of(TenantShare s) {
            return new Tenant(
                    s.tenant(),
                    s.weight(),
                    s.share(),
                    s.waiting(),
                    s.oldestNanos() / NANOS_PER_MILLI,
                    s.started(),
                    s.refused());
        }
    }

    @GET
    @Operation(
            summary = "Who waits for which model",
            description = "Tenants of each class, those with most waiting requests first.")
    @NonBlocking
    public Queues all(
            @Parameter(
                            description = "Most tenants to list for each class; 50 when absent",
                            schema = @Schema(type = SchemaType.INTEGER, minimum = "1"))
                    @QueryParam("limit")
                    @Nullable String given) {
        int limit = Limits.limit(given, DEFAULT_LIMIT, MAX_LIMIT);
        List<Queue> rows = new ArrayList<>();
        admission
                .queues()
                .forEach(
                        (model, queue) ->
                                queue.shares(limit)
                                        .forEach(
                                                (policyClass, shares) ->
                                                        rows.add(
                                                                new Queue(
                                                                        model,
                                                                        policyClass,
                                                                        shares.stream()
                                                                                .map(Tenant::of)
                                                                                .toList()))));
        return new Queues("list", rows);
    }
}
