package io.warmpath.api.admin;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.api.hints.OverrideReader;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.KeptDecision;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.routing.Score;
import io.warmpath.routing.modes.Replay;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.jspecify.annotations.Nullable;

/**
 * What another policy would have chosen for the last decisions. For admins: it tells of other
 * callers' requests.
 */
@Path("/router/replay")
@Produces(MediaType.APPLICATION_JSON)
public class ReplayResource {
    /** Changes that are listed one by one. */
    private static final int LISTED = 100;

    private final DecisionLog log;

    public ReplayResource(DecisionLog log) {
        this.log = log;
    }

    /**
     * @param routerConfigOverride as in requests
     * @param limit of decisions, the last ones; absent: all
     * @param seed of what is drawn
     */
    @PostedBody.Limit(bytes = 64 << 10)
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "ReplayQuestion")
    public record Question(
            @Schema(description = "Of --router-mode") @Nullable String mode,
            @Schema(enumeration = {"blocks", "latency"}) @Nullable String cost,
            @Schema(ref = "RouterOverride") @Nullable JsonNode routerConfigOverride,
            @Schema(
                            type = SchemaType.INTEGER,
                            minimum = "1",
                            description = "Of decisions, the last ones; absent: all")
                    @Nullable JsonNode limit,
            @Schema(type = SchemaType.INTEGER, defaultValue = "0", description = "Of what is drawn")
                    @Nullable JsonNode seed)
            implements PostedBody {}

    /**
     * @param decisions that were replayed
     * @param indifferent the policy ties, by cost, what was chosen with its own choice
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "ReplayOutcome")
    public record Outcome(
            int decisions,
            int skipped,
            int changed,
            int indifferent,
            Both predictedCachedTokens,
            Both prefillTokens,
            List<Change> changes) {}

    /** A sum over what was chosen, and over what would have been. */
    @Schema(name = "ReplaySums")
    public record Both(long was, long would) {}

    /** One decision that would have been another. */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "ReplayChange")
    public record Change(long number, String requestId, Choice was, Choice would) {}

    /** A rank, and what of the prompt it was predicted to have. */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "ReplayChoice")
    public record Choice(String worker, int dpRank, int cachedTokens) {
        private static Choice of(Score s) {
            return new Choice(
                    s.candidate().worker().name(), s.candidate().dpRank(), s.cachedTokens());
        }
    }

    @POST
    @Operation(summary = "What another policy would have chosen for the kept decisions")
    public Outcome replay(@RequestBody @Nullable Question question) throws IOException {
        if (question == null) {
            throw InvalidRequest.bad("", "The body must be a JSON object.");
        }
        RouterOverrides overrides = RouterOverrides.NONE;
        if (question.routerConfigOverride() != null) {
            try (JsonParser json = parser(question.routerConfigOverride())) {
                overrides = OverrideReader.read("router_config_override", json, true);
            }
        }
        Replay.Policy policy =
                new Replay.Policy(mode(question.mode()), cost(question.cost()), overrides);
        int limit =
                (int)
                        Math.max(
                                1,
                                number(
                                        "limit",
                                        question.limit(),
                                        Integer.MAX_VALUE,
                                        Integer.MAX_VALUE));
        Random random = new Random((long) number("seed", question.seed(), 0, 1L << 53));
        List<KeptDecision> kept = log.latest(limit).reversed();
        return outcome(
                Replay.run(
                        kept.stream().map(KeptDecision::decision).toList(), policy, () -> random),
                kept);
    }

    private static double number(
            String name, @Nullable JsonNode value, double otherwise, double most)
            throws IOException {
        if (value == null) {
            return otherwise;
        }
        try (JsonParser json = parser(value)) {
            return OverrideReader.number(name, json, most);
        }
    }

    private static JsonParser parser(JsonNode value) throws IOException {
        JsonParser json = value.traverse();
        json.nextToken();
        return json;
    }

    private static @Nullable CostKind cost(@Nullable String flag) {
        if (flag == null) {
            return null;
        }
        for (CostKind cost : CostKind.values()) {
            if (cost.flag().equals(flag)) {
                return cost;
            }
        }
        throw InvalidRequest.bad("cost", "`cost` must be blocks or latency.");
    }

    private static @Nullable RouterMode mode(@Nullable String flag) {
        if (flag == null) {
            return null;
        }
        for (RouterMode mode : RouterMode.values()) {
            if (mode.flag().equals(flag) && mode != RouterMode.DIRECT) {
                return mode;
            }
        }
        throw InvalidRequest.bad(
                "mode",
                "`mode` must be kv, random, round-robin, power-of-two, least-loaded or"
                        + " vllm-cache-aware.");
    }

    private static Outcome outcome(Replay.Outcome o, List<KeptDecision> kept) {
        return new Outcome(
                o.replayed(),
                o.skipped(),
                o.changes().size(),
                o.indifferent(),
                new Both(o.wasCachedTokens(), o.wouldCachedTokens()),
                new Both(o.wasPrefillTokens(), o.wouldPrefillTokens()),
                o.changes().stream()
                        .limit(LISTED)
                        .map(
                                c ->
                                        new Change(
                                                kept.get(c.index()).number(),
                                                kept.get(c.index()).requestId(),
                                                Choice.of(c.was()),
                                                Choice.of(c.would())))
                        .toList());
    }
}
