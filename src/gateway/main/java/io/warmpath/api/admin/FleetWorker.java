package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.events.SourceReport;
import io.warmpath.fleet.EventView;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.WorkerStatus;
import io.warmpath.fleet.monitor.LoadPoll;
import io.warmpath.gateway.observe.SplitPairs.SplitPair;
import io.warmpath.load.WorkerLoad;
import io.warmpath.prefix.SlotBlocks;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.usage.FleetHistory;
import io.warmpath.usage.WorkerHistory;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * A worker with its load and how it did.
 *
 * @param drained an operator has drained it, or one of its sources holds it for now
 * @param role which part of requests it does: prefill, decode, both, or encode, which gets none
 * @param pairs with whom it has split requests since the gateway started; at most ten, those with
 *     most tokens first
 * @param requests that ended there in the last five minutes
 * @param failed those of them that got no whole answer, or an error
 * @param hitRate cached part of the prompt tokens of five minutes, as the engine reports; absent:
 *     it does not
 * @param ttftMs mean time to the first token of five minutes, from when a request was sent there
 * @param history of a quarter of an hour; absent: not asked for
 */
@JsonNaming(SnakeCaseStrategy.class)
@JsonInclude(JsonInclude.Include.NON_NULL)
@Schema(name = "FleetWorker")
public record FleetWorker(
        String name,
        String id,
        String url,
        String kind,
        String version,
        String state,
        String problem,
        List<String> models,
        List<String> taints,
        boolean drained,
        String role,
        List<SplitPair> pairs,
        long requests,
        long failed,
        @Nullable Double hitRate,
        @Nullable Double ttftMs,
        Prediction prediction,
        List<Rank> ranks,
        @Nullable History history) {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final WorkerHistory.Recent NOTHING =
            new WorkerHistory.Recent(0, 0, null, null, 0, 0, 0);

    /**
     * Requests of five minutes by how the cached tokens that were predicted compare with those that
     * the engine reports. {@code over}: more was predicted.
     */
    @Schema(name = "FleetPrediction")
    public record Prediction(long equal, long over, long under) {}

    /**
     * @param running requests that this gateway has there
     * @param prefillTokens booked: those that are still to be computed
     * @param kvBlocksUsed booked: those of running requests
     * @param kvBlocksTotal absent: the engine does not tell
     * @param engine what it last said; absent: nothing lately
     * @param tiers absent: no KV events of this rank are read
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "FleetRank")
    public record Rank(
            int dpRank,
            int running,
            long prefillTokens,
            long kvBlocksUsed,
            @Nullable Long kvBlocksTotal,
            @Nullable Engine engine,
            Events events,
            @Nullable Tiers tiers) {}

    /** Blocks that a rank holds in each tier, as its KV events say; one in two counts in both. */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "FleetTiers")
    public record Tiers(long gpuBlocks, long hostBlocks, long diskBlocks, long externalBlocks) {
        private static Tiers of(SlotBlocks blocks, WorkerSlot slot) {
            return new Tiers(
                    blocks.in(slot, Tier.GPU),
                    blocks.in(slot, Tier.HOST),
                    blocks.in(slot, Tier.DISK),
                    blocks.in(slot, Tier.EXTERNAL));
        }
    }

    /** What an engine says one of its ranks does, whoever sent it. */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "FleetEngine")
    public record Engine(int running, int waiting, long kvBlocks) {}

    /**
     * Where the KV events of a rank stand.
     *
     * @param state {@code following}, {@code connecting}, {@code gap}, {@code frozen}, {@code gone}
     *     or {@code none}
     * @param trust part of what is known of its cache that counts, 0 to 1
     * @param why it is in this state; absent while it is followed
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "FleetEvents")
    public record Events(
            String state,
            double trust,
            @Nullable Long lastEventAgeMs,
            long gaps,
            long replays,
            @Nullable String why) {
        private static final Events NONE = new Events("none", 1, null, 0, 0, null);

        private static Events of(SourceReport r) {
            EventView view = r.status().state();
            boolean well = isFollowed(view) || r.status().why().isEmpty();
            return new Events(
                    word(view),
                    r.credit(),
                    r.status().batches() == 0
                            ? null
                            : r.status().lastEventNanos() / NANOS_PER_MILLI,
                    r.status().gaps(),
                    r.status().replays(),
                    well ? null : r.status().why());
        }

        private boolean areRead() {
            return !state.equals(NONE.state);
        }

        private static boolean isFollowed(EventView view) {
            return switch (view) {
                case EXACT, LAGGING, REPAIRING -> true;
                case OFF, NONE, CONNECTING, GAP, FROZEN, GONE -> false;
            };
        }

        private static String word(EventView view) {
            return isFollowed(view)
                    ? "following"
                    : view == EventView.OFF ? EventView.NONE.word() : view.word();
        }
    }

    /**
     * Numbers of steps that are over, the oldest first.
     *
     * @param stepS seconds of a step
     * @param ttftMs null where no first token came, as in {@code hitRate}
     * @param predictedTokens cached tokens of the requests whose engine reports them
     */
    @JsonNaming(SnakeCaseStrategy.class)
    @Schema(name = "FleetHistory")
    public record History(
            int stepS,
            List<Long> requests,
            List<Double> ttftMs,
            List<Double> hitRate,
            List<Long> prefillTokens,
            List<Long> kvBlocks,
            List<Long> predictedTokens,
            List<Long> reportedTokens) {
        private static History of(WorkerHistory.Series s) {
            return new History(
                    WorkerHistory.STEP_SECONDS,
                    s.requests(),
                    s.firstTokenMillis(),
                    s.hitRate(),
                    s.prefillTokens(),
                    s.kvBlocks(),
                    s.predictedTokens(),
                    s.reportedTokens());
        }
    }

    /**
     * Without its past.
     *
     * @param reports of the worker's event sources
     * @param blocks of the index that its events go to
     */
    static FleetWorker of(
            WorkerStatus status,
            List<SourceReport> reports,
            WorkerFacts facts,
            FleetFacts fleet,
            SlotBlocks blocks) {
        Worker w = status.worker();
        WorkerHistory.Recent known = fleet.history().recent(w.name());
        WorkerHistory.Recent recent = known == null ? NOTHING : known;
        Map<Integer, LoadPoll.Seen> said = facts.loads().apply(w.id());
        return new FleetWorker(
                w.name(),
                Long.toUnsignedString(w.id()),
                w.url().toString(),
                w.kind().name().toLowerCase(Locale.ROOT),
                w.version(),
                w.state().name().toLowerCase(Locale.ROOT),
                status.problem(),
                List.copyOf(new TreeSet<>(w.models())),
                w.taints().stream().map(Taint::toString).toList(),
                w.state() == WorkerState.DRAINED,
                w.disaggregation().role().label(),
                facts.pairs().apply(w.name()),
                recent.requests(),
                recent.failed(),
                recent.hitRate(),
                recent.firstTokenMillis(),
                new Prediction(recent.equal(), recent.over(), recent.under()),
                w.ranks().stream()
                        .map(
                                r ->
                                        rank(
                                                w,
                                                r,
                                                fleet.load().load(r.slot()),
                                                said.get(r.dpRank()),
                                                source(reports, r.dpRank()),
                                                blocks))
                        .toList(),
                null);
    }

    /** The rank's own, or the one that all ranks of its worker share. */
    private static @Nullable SourceReport source(List<SourceReport> reports, int rank) {
        return reports.size() == 1
                ? reports.getFirst()
                : reports.stream().filter(r -> r.dpRank() == rank).findFirst().orElse(null);
    }

    private static Rank rank(
            Worker w,
            Worker.Rank rank,
            WorkerLoad booked,
            LoadPoll.@Nullable Seen said,
            @Nullable SourceReport source,
            SlotBlocks blocks) {
        long total = w.capacity().kvBlocks();
        Events events = source == null ? Events.NONE : Events.of(source);
        return new Rank(
                rank.dpRank(),
                booked.requests(),
                booked.prefillTokens(),
                Math.round(booked.blocks()),
                total == 0 ? null : total,
                said == null
                        ? null
                        : new Engine(
                                said.load().running(),
                                said.load().waiting(),
                                Math.round(said.load().blocks(w))),
                events,
                events.areRead() ? Tiers.of(blocks, rank.slot()) : null);
    }

    /** The same with its past, where that is known. */
    FleetWorker with(FleetHistory past) {
        WorkerHistory.Series series = past.series(name);
        return new FleetWorker(
                name,
                id,
                url,
                kind,
                version,
                state,
                problem,
                models,
                taints,
                drained,
                role,
                pairs,
                requests,
                failed,
                hitRate,
                ttftMs,
                prediction,
                ranks,
                series == null ? null : History.of(series));
    }
}
