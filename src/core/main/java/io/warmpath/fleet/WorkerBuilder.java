package io.warmpath.fleet;

import java.net.URI;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a {@link Worker} is built from, named as there. One thread. */
public final class WorkerBuilder {
    private final long id;
    private final String name;
    private final URI url;
    private EngineKind kind = EngineKind.OPENAI;
    private ServedModels served = ServedModels.NONE;
    private int blockSize;
    private WorkerState state = WorkerState.READY;
    private List<Worker.Rank> ranks = List.of();
    private @Nullable EngineRanks numbers;
    private Capacity capacity = Capacity.UNKNOWN;
    private List<Taint> taints = List.of();
    private String version = "";
    private Offload offload = Offload.NONE;
    private PriorityOrder priorities = PriorityOrder.NOT_TAKEN;
    private SessionSupport sessions = SessionSupport.STICKY;
    private double weight = WorkerSpec.USUAL_WEIGHT;
    private Disaggregation disaggregation = Disaggregation.NONE;
    private CacheTraits cache = CacheTraits.PLAIN;
    private Place place = Place.UNKNOWN;

    WorkerBuilder(long id, String name, URI url) {
        this.id = id;
        this.name = name;
        this.url = url;
    }

    WorkerBuilder(Worker worker) {
        this(worker.id(), worker.name(), worker.url());
        kind = worker.kind();
        served = worker.served();
        blockSize = worker.blockSize();
        state = worker.state();
        ranks = worker.ranks();
        numbers = worker.numbers();
        capacity = worker.capacity();
        taints = worker.taints();
        version = worker.version();
        offload = worker.offload();
        priorities = worker.priorities();
        sessions = worker.sessions();
        weight = worker.weight();
        disaggregation = worker.disaggregation();
        cache = worker.cache();
        place = worker.place();
    }

    public WorkerBuilder kind(EngineKind value) {
        kind = value;
        return this;
    }

    public WorkerBuilder served(ServedModels value) {
        served = value;
        return this;
    }

    /** Names of models, none of them known to be an adapter. */
    public WorkerBuilder models(Set<String> value) {
        return served(ServedModels.of(value));
    }

    public WorkerBuilder blockSize(int value) {
        blockSize = value;
        return this;
    }

    public WorkerBuilder state(WorkerState value) {
        state = value;
        return this;
    }

    public WorkerBuilder ranks(List<Worker.Rank> value) {
        ranks = value;
        return this;
    }

    /** Of an engine that does not count the ranks from 0. */
    public WorkerBuilder numbers(EngineRanks value) {
        numbers = value;
        return this;
    }

    public WorkerBuilder capacity(Capacity value) {
        capacity = value;
        return this;
    }

    public WorkerBuilder taints(List<Taint> value) {
        taints = value;
        return this;
    }

    public WorkerBuilder version(String value) {
        version = value;
        return this;
    }

    public WorkerBuilder offload(Offload value) {
        offload = value;
        return this;
    }

    public WorkerBuilder priorities(PriorityOrder value) {
        priorities = value;
        return this;
    }

    public WorkerBuilder sessions(SessionSupport value) {
        sessions = value;
        return this;
    }

    public WorkerBuilder weight(double value) {
        weight = value;
        return this;
    }

    public WorkerBuilder disaggregation(Disaggregation value) {
        disaggregation = value;
        return this;
    }

    public WorkerBuilder cache(CacheTraits value) {
        cache = value;
        return this;
    }

    public WorkerBuilder place(Place value) {
        place = value;
        return this;
    }

    /** Throws {@link IllegalArgumentException} when it has no rank. */
    public Worker build() {
        return new Worker(
                id,
                name,
                url,
                kind,
                served,
                blockSize,
                state,
                ranks,
                numbers == null ? EngineRanks.of(ranks.size()) : numbers,
                capacity,
                taints,
                version,
                offload,
                priorities,
                sessions,
                weight,
                disaggregation,
                cache,
                place);
    }
}
