package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.fleet.metadata.HiCacheMetadata;
import io.warmpath.fleet.metadata.LmcacheMetadata;
import io.warmpath.fleet.metadata.PoolMetadata;
import io.warmpath.fleet.metadata.VllmStoreMetadata;
import io.warmpath.fleet.monitor.LoadPoll;
import io.warmpath.fleet.probe.TestedEngines;
import io.warmpath.fleet.source.SourceName;
import io.warmpath.gateway.observe.SplitPairs.SplitPair;
import io.warmpath.routing.rates.TransferRates;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * A worker as operators see it.
 *
 * @param versionTested the gateway was tested with this version of the engine
 * @param drained an operator has drained it, or one of its sources holds it for now
 * @param sources who names it, the strongest first
 * @param disagreements what its sources say differently, and what its engine tells in a form that
 *     is not usable
 * @param pins how it keeps what clients pin
 * @param role which part of requests it does: prefill, decode, both, or encode, which gets none
 * @param bootstrapPort where decode engines find its registry; 0: it has none
 * @param transfer what moves its KV cache to other engines, as it says; empty: it does not
 * @param pairs with whom it has split requests since the gateway started; at most ten, those with
 *     most tokens first
 * @param kvTransfer how KV caches come to it from others; absent: its engine has not shown it
 * @param eventsFollowed this gateway listens to its events
 * @param tokens where those of its models' prompts come from, by model
 * @param tokensDrifted prompts whose ids here are not the engine's
 * @param engineLoad what its engine last said, by rank
 */
@JsonNaming(SnakeCaseStrategy.class)
public record WorkerRow(
        String id,
        String name,
        String url,
        String kind,
        String version,
        boolean versionTested,
        String state,
        String problem,
        boolean drained,
        List<String> sources,
        List<String> disagreements,
        List<String> models,
        int blockSize,
        int dpSize,
        String priority,
        String sessions,
        String pins,
        boolean eventsFollowed,
        Map<String, String> tokens,
        List<String> tokensDrifted,
        List<String> taints,
        double weight,
        String role,
        int bootstrapPort,
        String transfer,
        List<SplitPair> pairs,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable KvTransfer kvTransfer,
        Map<String, String> labels,
        int maxNumBatchedTokens,
        long totalKvBlocks,
        List<Load> engineLoad,
        @JsonInclude(JsonInclude.Include.NON_NULL)
                @Nullable Map<String, Object> sglangHicacheMooncake,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Map<String, Object> vllmMooncakeStore,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Map<String, Object> lmcache,
        List<Events> events) {

    /** {@code outside}: requests of the rank that are not this gateway's. */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "RankLoad")
    public record Load(int dpRank, int running, int waiting, long kvBlocks, int outside) {
        private static Load of(Worker w, LoadPoll.Seen seen) {
            return new Load(
                    seen.load().dpRank(),
                    seen.load().running(),
                    seen.load().waiting(),
                    Math.round(seen.load().blocks(w)),
                    seen.outside());
        }
    }

    /**
     * Learnt of what the engine has fetched.
     *
     * @param gbitPerSecond of one request's transfer; absent: not known
     * @param bytesPerToken of KV cache
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record KvTransfer(@Nullable Double gbitPerSecond, long bytesPerToken) {
        private static @Nullable KvTransfer of(TransferRates.Known known) {
            double rate = known.bytesPerSecond() * 8e-9;
            return known.bytesPerToken() == 0
                    ? null
                    : new KvTransfer(rate == 0 ? null : rate, Math.round(known.bytesPerToken()));
        }
    }

    /** Where a rank's KV events come from. */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "RankEvents")
    public record Events(
            int dpRank,
            String endpoint,
            boolean bind,
            @Nullable String replayEndpoint,
            String topic) {
        private static Events of(EventEndpoint e) {
            return new Events(e.dpRank(), e.endpoint(), e.bind(), e.replayEndpoint(), e.topic());
        }
    }

    static WorkerRow of(WorkerStatus status, List<SourceName> sources, WorkerFacts facts) {
        return of(status, lower(status.worker().state()), sources, facts);
    }

    /** {@code state}: in place of the worker's. */
    static WorkerRow of(
            WorkerStatus status, String state, List<SourceName> sources, WorkerFacts facts) {
        Worker w = status.worker();
        PoolMetadata pool = w.offload().pool();
        return new WorkerRow(
                Long.toUnsignedString(w.id()),
                w.name(),
                w.url().toString(),
                lower(w.kind()),
                w.version(),
                TestedEngines.isTested(w.kind(), w.version()),
                state,
                status.problem(),
                w.state() == WorkerState.DRAINED,
                sources.stream().map(SourceName::word).toList(),
                status.disagreements(),
                List.copyOf(new TreeSet<>(w.models())),
                w.blockSize(),
                w.ranks().size(),
                w.priorities().word(),
                w.sessions().word(),
                facts.pins().apply(w.id()).word(),
                facts.followsEvents(),
                new TreeMap<>(facts.tokens().apply(w)),
                List.copyOf(facts.drifted().apply(w.kind())),
                w.taints().stream().map(Taint::toString).toList(),
                w.weight(),
                w.disaggregation().role().label(),
                w.disaggregation().bootstrapPort(),
                w.disaggregation().transfer(),
                facts.pairs().apply(w.name()),
                KvTransfer.of(facts.transfers().apply(w.id())),
                new TreeMap<>(status.spec().labels()),
                w.capacity().batchedTokens(),
                w.capacity().kvBlocks(),
                new TreeMap<>(facts.loads().apply(w.id()))
                        .values().stream().map(s -> Load.of(w, s)).toList(),
                pool instanceof HiCacheMetadata ? pool.json() : null,
                pool instanceof VllmStoreMetadata ? pool.json() : null,
                pool instanceof LmcacheMetadata ? pool.json() : null,
                status.events().stream().map(Events::of).toList());
    }

    private static String lower(Enum<?> word) {
        return word.name().toLowerCase(Locale.ROOT);
    }
}
