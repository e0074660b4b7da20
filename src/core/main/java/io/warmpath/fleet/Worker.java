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
 * @param models model names it serves, as clients write them
 * @param blockSize tokens per KV block; 0 when unknown, then it is routed by load alone
 * @param state whether it gets requests
 * @param ranks its data-parallel ranks, at least one, ascending
 * @param capacity of each rank
 * @param taints what sets it apart
 * @param version of its engine as that writes it; empty until it has said
 * @param offload what it keeps below its device's memory
 * @param priorities what it makes of priorities
 * @param sessions how it keeps sessions
 * @param weight load that each of its ranks can carry, beside a worker of weight 1; {@link
 *     WorkerSpec#MIN_WEIGHT} to {@link WorkerSpec#MAX_WEIGHT}
 */
public record Worker(
        long id,
        String name,
        URI url,
        EngineKind kind,
        Set<String> models,
        int blockSize,
        WorkerState state,
        List<Rank> ranks,
        Capacity capacity,
        List<Taint> taints,
        String version,
        Offload offload,
        PriorityOrder priorities,
        SessionSupport sessions,
        double weight) {

    /** One schedulable rank and its slot in the prefix index. */
    public record Rank(int dpRank, WorkerSlot slot) {}

    /** A worker of weight 1. */
    public Worker(
            long id,
            String name,
            URI url,
            EngineKind kind,
            Set<String> models,
            int blockSize,
            WorkerState state,
            List<Rank> ranks,
            Capacity capacity,
            List<Taint> taints,
            String version,
            Offload offload,
            PriorityOrder priorities,
            SessionSupport sessions) {
        this(
                id,
                name,
                url,
                kind,
                models,
                blockSize,
                state,
                ranks,
                capacity,
                taints,
                version,
                offload,
                priorities,
                sessions,
                WorkerSpec.USUAL_WEIGHT);
    }

    /** A worker whose sessions only stay on it. */
    public Worker(
            long id,
            String name,
            URI url,
            EngineKind kind,
            Set<String> models,
            int blockSize,
            WorkerState state,
            List<Rank> ranks,
            Capacity capacity,
            List<Taint> taints,
            String version,
            Offload offload,
            PriorityOrder priorities) {
        this(
                id,
                name,
                url,
                kind,
                models,
                blockSize,
                state,
                ranks,
                capacity,
                taints,
                version,
                offload,
                priorities,
                SessionSupport.STICKY);
    }

    /** A worker whose version is not known. */
    public Worker(
            long id,
            String name,
            URI url,
            EngineKind kind,
            Set<String> models,
            int blockSize,
            WorkerState state,
            List<Rank> ranks,
            Capacity capacity,
            List<Taint> taints) {
        this(
                id,
                name,
                url,
                kind,
                models,
                blockSize,
                state,
                ranks,
                capacity,
                taints,
                "",
                Offload.NONE,
                PriorityOrder.NOT_TAKEN,
                SessionSupport.STICKY);
    }

    /** A worker without taints. */
    public Worker(
            long id,
            String name,
            URI url,
            EngineKind kind,
            Set<String> models,
            int blockSize,
            WorkerState state,
            List<Rank> ranks,
            Capacity capacity) {
        this(id, name, url, kind, models, blockSize, state, ranks, capacity, List.of());
    }

    /** A worker without taints whose capacity is not known. */
    public Worker(
            long id,
            String name,
            URI url,
            EngineKind kind,
            Set<String> models,
            int blockSize,
            WorkerState state,
            List<Rank> ranks) {
        this(id, name, url, kind, models, blockSize, state, ranks, Capacity.UNKNOWN);
    }

    public Worker {
        models = Set.copyOf(models);
        ranks = List.copyOf(ranks);
        taints = List.copyOf(taints);
        if (ranks.isEmpty()) {
            throw new IllegalArgumentException("worker " + name + " has no rank");
        }
    }

    Worker with(WorkerState nowIs) {
        return with(nowIs, taints, weight);
    }

    /** As another record has it; what is learnt of the engine stays. */
    Worker as(WorkerSpec record) {
        return with(state, record.taints(), record.weightOrUsual());
    }

    private Worker with(WorkerState nowIs, List<Taint> nowHas, double nowWeighs) {
        return new Worker(
                id,
                name,
                url,
                kind,
                models,
                blockSize,
                nowIs,
                ranks,
                capacity,
                nowHas,
                version,
                offload,
                priorities,
                sessions,
                nowWeighs);
    }

    /** Gets requests, be it few. */
    public boolean available() {
        return state == WorkerState.READY || state == WorkerState.TRIAL;
    }
}
