package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.smallrye.common.annotation.NonBlocking;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.session.pin.Pin;
import io.warmpath.session.pin.PinLedger;
import io.warmpath.session.pin.PinRefusals;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/**
 * Which rank keeps which prefix, and which were refused last. For operators, who see those of all
 * tenants; tenants are not shown, their names may be secrets.
 */
@Path("/sessions/pins")
@Produces(MediaType.APPLICATION_JSON)
public class PinsResource {
    private static final int DEFAULT_LIMIT = 1000;
    private static final int MAX_LIMIT = 1_000_000;

    private final Optional<PinLedger> ledger;
    private final PinRefusals refusals;
    private final Fleet fleet;

    /** {@code ledger}: empty: pins are off. */
    public PinsResource(Optional<PinLedger> ledger, PinRefusals refusals, Fleet fleet) {
        this.ledger = ledger;
        this.refusals = refusals;
        this.fleet = fleet;
    }

    /**
     * The pins that were asked for, and those that were refused last.
     *
     * @param enabled false: pins are off, and the lists empty
     */
    @JsonNaming(SnakeCaseStrategy.class)
    public record Pins(
            String object,
            boolean enabled,
            int total,
            long totalTokens,
            List<Row> data,
            List<Refusal> refused) {}

    /** {@code worker}: absent when it has left. */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "Pin")
    public record Row(
            String id,
            String workerId,
            @Nullable String worker,
            int dpRank,
            String model,
            boolean hasTenant,
            String state,
            String how,
            int tokens,
            int blocks,
            int blockSize,
            int nodesPinned,
            String said,
            int ttlSeconds,
            String madeAt,
            String expiresAt,
            long hits) {
        private static Row of(Pin p, FleetSnapshot now) {
            return new Row(
                    Long.toString(p.number()),
                    Long.toUnsignedString(p.worker()),
                    WorkerName.of(p.worker(), now),
                    p.dpRank(),
                    p.scope().model(),
                    !p.scope().tenant().isEmpty(),
                    p.held() ? "held" : "asked",
                    p.how().word(),
                    p.tokens(),
                    p.blocks(),
                    p.blockSize(),
                    p.nodes(),
                    p.said(),
                    p.ttlSeconds(),
                    Instant.ofEpochMilli(p.madeMillis()).toString(),
                    Instant.ofEpochMilli(p.expiresMillis()).toString(),
                    p.hits());
        }
    }

    /** {@code worker}: absent when it has left. */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "PinRefusal")
    public record Refusal(
            String at,
            String workerId,
            @Nullable String worker,
            String model,
            int tokens,
            String result,
            String reason) {
        private static Refusal of(PinRefusals.Refusal r, FleetSnapshot now) {
            return new Refusal(
                    Instant.ofEpochMilli(r.atMillis()).toString(),
                    Long.toUnsignedString(r.worker()),
                    WorkerName.of(r.worker(), now),
                    r.model(),
                    r.tokens(),
                    r.result(),
                    r.reason());
        }
    }

    @GET
    @Operation(summary = "Prefixes that are kept on a rank, and those that were refused last")
    public Pins all(
            @Parameter(
                            description = "Most rows to list; 1,000 when absent",
                            schema = @Schema(type = SchemaType.INTEGER, minimum = "1"))
                    @QueryParam("limit")
                    @Nullable String limit) {
        int most = Limits.limit(limit, DEFAULT_LIMIT, MAX_LIMIT);
        if (ledger.isEmpty()) {
            return new Pins("list", false, 0, 0, List.of(), List.of());
        }
        PinLedger book = ledger.get();
        List<Pin> pins = book.list(most);
        FleetSnapshot now = fleet.snapshot();
        return new Pins(
                "list",
                true,
                book.size(),
                book.tokens(),
                pins.stream().map(p -> Row.of(p, now)).toList(),
                refusals.list().stream().map(r -> Refusal.of(r, now)).toList());
    }

    @GET
    @Path("/{pin}")
    @NonBlocking
    @Operation(summary = "One pin")
    public Row one(@PathParam("pin") String id) {
        return Row.of(find(id), fleet.snapshot());
    }

    @DELETE
    @Path("/{pin}")
    @NonBlocking
    @Operation(
            summary = "Ends what the gateway does for a pin",
            description = "Engines cannot be told to end a pin before its time.")
    public void drop(@PathParam("pin") String id) {
        if (!ledger().drop(find(id).number())) {
            throw new NotFoundException();
        }
    }

    private Pin find(String id) {
        try {
            Pin pin = ledger().find(Long.parseLong(id));
            if (pin != null) {
                return pin;
            }
        } catch (NumberFormatException e) {
            // no pin has such a name
        }
        throw new NotFoundException();
    }

    private PinLedger ledger() {
        return ledger.orElseThrow(NotFoundException::new);
    }
}
