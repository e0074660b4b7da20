package io.warmpath.api.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.smallrye.common.annotation.NonBlocking;
import io.warmpath.admission.Admission;
import io.warmpath.admission.BusyThresholds;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Fleet;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.jspecify.annotations.Nullable;

/** From which load on a model's workers count as busy. Nothing here waits. */
@Path("/busy_threshold")
@Produces(MediaType.APPLICATION_JSON)
public class BusyThresholdResource {
    private static final String BLOCKS = "active_decode_blocks_threshold";
    private static final String TOKENS = "active_prefill_tokens_threshold";
    private static final String FRACTION = "active_prefill_tokens_threshold_frac";

    private final Admission admission;
    private final Fleet fleet;

    public BusyThresholdResource(Admission admission, Fleet fleet) {
        this.admission = admission;
        this.fleet = fleet;
    }

    /** The thresholds of every model. */
    @Schema(name = "AllBusyThresholds")
    public record All(List<Thresholds> thresholds) {}

    /** Those of one model; null: none. */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "BusyThresholds")
    public record Thresholds(
            String model,
            @Nullable Double activeDecodeBlocksThreshold,
            @Nullable Long activePrefillTokensThreshold,
            @Nullable Double activePrefillTokensThresholdFrac) {}

    /** A threshold that is null is cleared, one that is not there stays. */
    @PostedBody.Limit(bytes = 64 << 10)
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "BusyThresholdsChange")
    public record Change(
            @Nullable String model,
            @Schema(
                            type = SchemaType.NUMBER,
                            nullable = true,
                            description = "Share of the KV blocks, 0 to 1")
                    @Nullable JsonNode activeDecodeBlocksThreshold,
            @Schema(type = SchemaType.INTEGER, nullable = true, description = "Tokens to prefill")
                    @Nullable JsonNode activePrefillTokensThreshold,
            @Schema(
                            type = SchemaType.NUMBER,
                            nullable = true,
                            description =
                                    "Tokens to prefill, as a multiple of max_num_batched_tokens")
                    @Nullable JsonNode activePrefillTokensThresholdFrac)
            implements PostedBody {
        boolean changesNothing() {
            return activeDecodeBlocksThreshold == null
                    && activePrefillTokensThreshold == null
                    && activePrefillTokensThresholdFrac == null;
        }
    }

    @GET
    @Operation(summary = "Thresholds of every model from which on its workers count as busy")
    @NonBlocking
    public All all() {
        Set<String> models = new TreeSet<>(fleet.snapshot().models());
        models.addAll(admission.busyModels().keySet());
        return new All(models.stream().map(this::thresholds).toList());
    }

    @POST
    @Operation(
            summary = "Changes thresholds of one model",
            description = "A threshold that is null is cleared, one that is absent stays.")
    public Thresholds change(@RequestBody @Nullable Change change) {
        if (change == null) {
            throw InvalidRequest.bad("", "The body must be a JSON object.");
        }
        String model = change.model() == null ? "" : change.model();
        if (!fleet.snapshot().knows(model)) {
            throw new GatewayException(new GatewayError.UnknownModel(model));
        }
        if (!change.changesNothing()) {
            BusyThresholds now = admission.busy(model);
            try {
                admission.busy(
                        model,
                        new BusyThresholds(
                                number(
                                        BLOCKS,
                                        change.activeDecodeBlocksThreshold(),
                                        now.decodeBlocks()),
                                whole(change.activePrefillTokensThreshold(), now.prefillTokens()),
                                number(
                                        FRACTION,
                                        change.activePrefillTokensThresholdFrac(),
                                        now.prefillFraction())));
            } catch (IllegalArgumentException e) {
                throw InvalidRequest.bad("", e.getMessage() + ".");
            }
        }
        return thresholds(model);
    }

    private static OptionalDouble number(
            String name, @Nullable JsonNode value, OptionalDouble now) {
        if (value == null) {
            return now;
        }
        if (value.isNull()) {
            return OptionalDouble.empty();
        }
        if (!value.isNumber()) {
            throw InvalidRequest.bad(name, "`" + name + "` must be a number or null.");
        }
        return OptionalDouble.of(value.doubleValue());
    }

    private static OptionalLong whole(@Nullable JsonNode value, OptionalLong now) {
        if (value == null) {
            return now;
        }
        if (value.isNull()) {
            return OptionalLong.empty();
        }
        if (!value.canConvertToExactIntegral() || !value.canConvertToLong()) {
            throw InvalidRequest.bad(TOKENS, "`" + TOKENS + "` must be a whole number or null.");
        }
        return OptionalLong.of(value.longValue());
    }

    private Thresholds thresholds(String model) {
        BusyThresholds t = admission.busy(model);
        return new Thresholds(
                model,
                t.decodeBlocks().isPresent() ? t.decodeBlocks().getAsDouble() : null,
                t.prefillTokens().isPresent() ? t.prefillTokens().getAsLong() : null,
                t.prefillFraction().isPresent() ? t.prefillFraction().getAsDouble() : null);
    }
}
