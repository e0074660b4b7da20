package io.warmpath.fleet;

import io.warmpath.fleet.metadata.PoolMetadata;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes a {@link WorkerSpec}, whose fields it names; what is not set is asked of the engine. */
public final class WorkerSpecBuilder {
    private final URI url;
    private @Nullable String name;
    private OptionalLong id = OptionalLong.empty();
    private @Nullable EngineKind kind;
    private Set<String> models = Set.of();
    private int blockSize;
    private int dpSize;
    private @Nullable String eventsEndpoint;
    private @Nullable String replayEndpoint;
    private boolean eventsBind;
    private String topic = "";
    private List<Taint> taints = List.of();
    private @Nullable PoolMetadata pool;
    private @Nullable PriorityOrder priorities;
    private Capacity capacity = Capacity.UNKNOWN;
    private Map<String, String> labels = Map.of();
    private @Nullable PinSupport pins;
    private double weight;
    private @Nullable Role role;
    private int bootstrapPort;

    /** {@code url}: as {@link WorkerSpec#parse} reads it. */
    public WorkerSpecBuilder(URI url) {
        this.url = url;
    }

    public WorkerSpecBuilder name(@Nullable String value) {
        name = value;
        return this;
    }

    public WorkerSpecBuilder id(OptionalLong value) {
        id = value;
        return this;
    }

    public WorkerSpecBuilder kind(@Nullable EngineKind value) {
        kind = value;
        return this;
    }

    public WorkerSpecBuilder models(Set<String> value) {
        models = value;
        return this;
    }

    public WorkerSpecBuilder blockSize(int value) {
        blockSize = value;
        return this;
    }

    public WorkerSpecBuilder dpSize(int value) {
        dpSize = value;
        return this;
    }

    /** {@code replay}: null: none. {@code bind}: this side binds, the engine connects. */
    public WorkerSpecBuilder events(
            @Nullable String endpoint, @Nullable String replay, boolean bind, String ofTopic) {
        eventsEndpoint = endpoint;
        replayEndpoint = replay;
        eventsBind = bind;
        topic = ofTopic;
        return this;
    }

    public WorkerSpecBuilder taints(List<Taint> value) {
        taints = value;
        return this;
    }

    public WorkerSpecBuilder pool(@Nullable PoolMetadata value) {
        pool = value;
        return this;
    }

    public WorkerSpecBuilder priorities(@Nullable PriorityOrder value) {
        priorities = value;
        return this;
    }

    public WorkerSpecBuilder capacity(Capacity value) {
        capacity = value;
        return this;
    }

    public WorkerSpecBuilder labels(Map<String, String> value) {
        labels = value;
        return this;
    }

    public WorkerSpecBuilder pins(@Nullable PinSupport value) {
        pins = value;
        return this;
    }

    /** {@code value}: 0: not told. */
    public WorkerSpecBuilder weight(double value) {
        weight = value;
        return this;
    }

    /** {@code port}: of its registry; 0: not told. */
    public WorkerSpecBuilder role(@Nullable Role value, int port) {
        role = value;
        bootstrapPort = port;
        return this;
    }

    /** Throws {@link IllegalArgumentException} with a sentence for the operator. */
    public WorkerSpec build() {
        return new WorkerSpec(
                url,
                name,
                id,
                kind,
                models,
                blockSize,
                dpSize,
                eventsEndpoint,
                replayEndpoint,
                eventsBind,
                topic,
                taints,
                pool,
                priorities,
                capacity,
                labels,
                pins,
                weight,
                role,
                bootstrapPort);
    }
}
