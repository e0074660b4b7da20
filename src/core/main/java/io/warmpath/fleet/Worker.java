package io.warmpath.fleet;

import io.warmpath.prefix.WorkerSlot;
import java.net.URI;
import java.util.List;
import java.util.Set;

/**
 * One engine process as the router sees it. Immutable.
 *
 * @param id u64 name used in events, APIs and {@code nvext}; XXH64 of the URL unless configured
 * @param name short, safe to show to clients; never an address
 * @param url base URL of its HTTP API
 * @param kind what speaks there
 * @param served what it serves
 * @param blockSize tokens per KV block; 0 when unknown, then it is routed by load alone
 * @param state whether it gets requests
 * @param ranks its data-parallel ranks, at least one, ascending
 * @param numbers how its engine numbers them
 * @param capacity of each rank
 * @param taints what sets it apart
 * @param version of its engine as that writes it; empty until it has said
 * @param offload what it keeps below its device's memory
 * @param priorities what it makes of priorities
 * @param sessions how it keeps sessions
 * @param weight load that each of its ranks can carry, beside a worker of weight 1; {@link
 *     WorkerSpec#MIN_WEIGHT} to {@link WorkerSpec#MAX_WEIGHT}
 * @param disaggregation which part of requests it does
 * @param cache what is special about it
 * @param place where it runs
 */
public record Worker(
        long id,
        String name,
        URI url,
        EngineKind kind,
        ServedModels served,
        int blockSize,
        WorkerState state,
        List<Rank> ranks,
        EngineRanks numbers,
        Capacity capacity,
        List<Taint> taints,
        String version,
        Offload offload,
        PriorityOrder priorities,
        SessionSupport sessions,
        double weight,
        Disaggregation disaggregation,
        CacheTraits cache,
        Place place) {

    /** One schedulable rank and its slot in the prefix index. */
    public record Rank(int dpRank, WorkerSlot slot) {}

    /**
     * Starts from a ready worker of unknown kind, models and block size that says nothing more of
     * itself; {@code ranks} is to be given.
     */
    public static WorkerBuilder builder(long id, String name, URI url) {
        return new WorkerBuilder(id, name, url);
    }

    public WorkerBuilder toBuilder() {
        return new WorkerBuilder(this);
    }

    public Worker {
        ranks = List.copyOf(ranks);
        taints = List.copyOf(taints);
        if (ranks.isEmpty()) {
            throw new IllegalArgumentException("worker " + name + " has no rank");
        }
    }

    Worker with(WorkerState nowIs) {
        return toBuilder().state(nowIs).build();
    }

    /** As another record has it; what is learnt of the engine stays. */
    Worker as(WorkerSpec record) {
        return toBuilder()
                .taints(record.taints())
                .weight(record.weightOrUsual())
                .place(Place.of(record.labels()))
                .build();
    }

    /** Names of models that it serves, as clients write them. */
    public Set<String> models() {
        return served.names();
    }

    /** Is well enough for requests, be it few, or later. */
    public boolean available() {
        return hasRoom() || state == WorkerState.FULL;
    }

    /** Takes requests now, be it few. */
    public boolean hasRoom() {
        return state == WorkerState.READY || state == WorkerState.TRIAL;
    }

    /** Gets requests, be it few. */
    public boolean serves() {
        return available() && disaggregation.role() != Role.ENCODE;
    }
}
