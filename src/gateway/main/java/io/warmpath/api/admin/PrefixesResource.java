package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.prompt.HotPrompts;
import io.warmpath.hot.HotPrefix;
import io.warmpath.pool.PoolLayout;
import io.warmpath.pool.PoolStanding;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.UriInfo;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.ParameterIn;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** Which prefixes many prompts have, who holds them, and what caches do beside. */
@Path("/router/prefixes")
@Produces(MediaType.APPLICATION_JSON)
public class PrefixesResource {
    private static final int DEFAULT_LIMIT = 20;
    private static final int MAX_LIMIT = 1000;
    private static final int MOST_HOLDERS = 64;
    private static final int MOST_MODELS = 64;

    private final CacheFacts caches;
    private final Fleet fleet;
    private final InstantSource clock;

    public PrefixesResource(CacheFacts caches, Fleet fleet, InstantSource clock) {
        this.caches = caches;
        this.fleet = fleet;
        this.clock = clock;
    }

    /**
     * @param textKept prefixes have their {@code text}
     * @param pools absent: workers share none
     * @param index absent: there is none
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Prefixes(
            List<Prefix> prefixes,
            boolean textKept,
            Evictions evictions,
            @Nullable List<Pool> pools,
            @Nullable Index index) {}

    /**
     * @param hits an estimate of the prompts that had it; five minutes ago counts half
     * @param last when one of the sample had it
     * @param text what its prompts begin with
     * @param heldBy ranks that hold some of it
     * @param holders of these, the 64 that hold most
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "HotPrefix")
    public record Prefix(
            String model,
            int blockSize,
            int blocks,
            int tokens,
            double hits,
            String last,
            @Nullable String text,
            int heldBy,
            List<Holder> holders) {}

    /** A rank and what each tier adds to the blocks that it holds from the start. */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "PrefixHolder")
    public record Holder(
            String worker,
            int dpRank,
            int gpuBlocks,
            int hostBlocks,
            int diskBlocks,
            int externalBlocks) {
        private int blocks() {
            return gpuBlocks + hostBlocks + diskBlocks + externalBlocks;
        }
    }

    /**
     * @param blocksStored told by engines, since the gateway began; absent: none is listened to
     * @param blocksRemoved the same
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Evictions(
            @Nullable Long blocksStored,
            @Nullable Long blocksRemoved,
            List<Recomputed> recomputed) {}

    /**
     * @param part of the prompt blocks that the model's ranks computed lately: some engine had
     *     computed them before, and none held them any more
     */
    public record Recomputed(String model, double part) {}

    /**
     * @param asked questions to the pool's master
     * @param hits prompt pages that it was known to hold
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "PoolStanding")
    public record Pool(
            String name,
            long asked,
            long answeredFromCache,
            long failed,
            long pagesLookedUp,
            long hits,
            String breaker,
            String problem) {
        private static Pool of(PoolLayout layout, PoolStanding s) {
            return new Pool(
                    layout.masters().getFirst() + ", " + layout.recipe().description(),
                    s.asked(),
                    s.answeredFromCache(),
                    s.failed(),
                    s.pagesLookedUp(),
                    s.pagesFound(),
                    s.breaker().name().toLowerCase(Locale.ROOT),
                    s.lastFailure());
        }
    }

    /** The index of prefixes now, and what it had to do since the gateway began. */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "IndexStats")
    public record Index(
            int slots,
            long blocks,
            long residencies,
            long runs,
            long orphans,
            long bytes,
            long ghosts,
            long moves,
            long conflicts,
            long orphansGivenUp,
            long refused,
            long decisions,
            long decisionsEndedByTime,
            long decisionsEndedByCapacity) {
        private static Index of(IndexStats s) {
            return new Index(
                    s.slots(),
                    s.blocks(),
                    s.residencies(),
                    s.runs(),
                    s.orphans(),
                    s.bytes(),
                    s.ghosts(),
                    s.moves(),
                    s.conflicts(),
                    s.orphansGivenUp(),
                    s.refused(),
                    s.decisions(),
                    s.decisionsEndedByTime(),
                    s.decisionsEndedByCapacity());
        }
    }

    @GET
    @Operation(
            summary = "Prefixes that many prompts have, and who holds them; evictions and pools",
            description =
                    "From a sample of the requests of this gateway. Texts are shown with"
                            + " --explain-prefix-text.")
    @Parameter(
            name = "limit",
            in = ParameterIn.QUERY,
            description = "Most prefixes to list; 20 when absent",
            schema = @Schema(type = SchemaType.INTEGER, minimum = "1", maximum = "1000"))
    @Parameter(
            name = "model",
            in = ParameterIn.QUERY,
            description = "Prefixes of this model only",
            schema = @Schema(type = SchemaType.STRING))
    public Prefixes hottest(@Context UriInfo uri) {
        Query query = new Query(uri, List.of("limit", "model"));
        int limit = Limits.limit(query.text("limit"), DEFAULT_LIMIT, MAX_LIMIT);
        String model = query.text("model");
        FleetSnapshot now = fleet.snapshot();
        List<Pool> pools =
                caches.pools().get().entrySet().stream()
                        .map(e -> Pool.of(e.getKey(), e.getValue()))
                        .sorted(Comparator.comparing(Pool::name))
                        .toList();
        return new Prefixes(
                caches.hot()
                        .map(
                                hot ->
                                        hot
                                                .prefixes()
                                                .hottest(
                                                        limit,
                                                        m -> model == null || m.equals(model))
                                                .stream()
                                                .map(p -> prefix(p, now))
                                                .toList())
                        .orElse(List.of()),
                caches.hot().filter(HotPrompts::keepsTexts).isPresent(),
                evictions(now),
                pools.isEmpty() ? null : pools,
                caches.index().get().map(Index::of).orElse(null));
    }

    private Prefix prefix(HotPrefix p, FleetSnapshot now) {
        List<Holder> holders = holders(p, now);
        Instant last = clock.instant().minusNanos(p.ageNanos());
        return new Prefix(
                p.model(),
                p.prefix().blockSize(),
                p.prefix().blocks(),
                p.prefix().length(),
                Math.round(p.hits() * 10) / 10.0,
                Instant.ofEpochMilli(last.toEpochMilli()).toString(),
                p.text().isEmpty() ? null : p.text(),
                holders.size(),
                holders.size() <= MOST_HOLDERS
                        ? holders
                        : List.copyOf(holders.subList(0, MOST_HOLDERS)));
    }

    private List<Holder> holders(HotPrefix p, FleetSnapshot now) {
        PrefixMatch match = caches.holders().apply(p.prefix());
        List<Holder> all = new ArrayList<>();
        for (Worker w : now.workers()) {
            if (w.blockSize() != p.prefix().blockSize() || !w.models().contains(p.model())) {
                continue;
            }
            for (Worker.Rank r : w.ranks()) {
                int at = match.indexOf(r.slot());
                if (match.depthAt(at, Tier.EXTERNAL) > 0) {
                    int gpu = match.depthAt(at, Tier.GPU);
                    int host = match.depthAt(at, Tier.HOST);
                    int disk = match.depthAt(at, Tier.DISK);
                    all.add(
                            new Holder(
                                    w.name(),
                                    r.dpRank(),
                                    gpu,
                                    host - gpu,
                                    disk - host,
                                    match.depthAt(at, Tier.EXTERNAL) - disk));
                }
            }
        }
        all.sort(Comparator.comparingInt(Holder::blocks).reversed());
        return all;
    }

    private Evictions evictions(FleetSnapshot now) {
        List<Recomputed> parts = new ArrayList<>();
        for (String model : now.models()) {
            List<Candidate> candidates = now.candidates(model);
            OptionalDouble part =
                    candidates.isEmpty() || parts.size() == MOST_MODELS
                            ? OptionalDouble.empty()
                            : caches.evicted().apply(model, candidates);
            part.ifPresent(p -> parts.add(new Recomputed(model, Math.round(p * 1e4) / 1e4)));
        }
        return new Evictions(
                caches.events().map(e -> e.storedBlocks()).orElse(null),
                caches.events().map(e -> e.removedBlocks()).orElse(null),
                parts);
    }
}
