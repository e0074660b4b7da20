package io.warmpath.fleet;

import io.warmpath.fleet.metadata.PoolMetadata;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What an operator says about a worker; what is left out is asked of the engine. Immutable.
 *
 * @param url base URL of its HTTP API, see {@link EngineAddress}
 * @param name unique and safe to show to clients; null: {@code w0}, {@code w1}, ...
 * @param id u64 identity; empty: XXH64 of the URL
 * @param kind null: found out by asking
 * @param models empty: taken from {@code /v1/models}
 * @param blockSize tokens per KV block, 0: asked, else the fleet's default
 * @param dpSize data-parallel ranks, 0: asked, else 1
 * @param eventsEndpoint endpoint of rank 0, null: asked
 * @param replayEndpoint replay endpoint of rank 0, null: asked, or none when {@code eventsEndpoint}
 *     is given
 * @param eventsBind this side binds {@code eventsEndpoint} and the engine connects
 * @param topic event topic to subscribe to
 * @param taints what sets it apart
 * @param pool the pool that its engine uses, null: asked
 * @param priorities what it makes of priorities, null: asked
 * @param capacity of each rank, what is 0 is asked
 * @param labels what operators tell apart by; kept and shown
 * @param pins how it is made to keep a prefix, null: asked
 * @param weight load that each rank can carry, {@link #MIN_WEIGHT} to {@link #MAX_WEIGHT}; 0: not
 *     told, which is {@link #USUAL_WEIGHT}
 * @param role which part of requests it does, null: asked
 * @param bootstrapPort of its registry, for decode engines; 0: asked
 */
public record WorkerSpec(
        URI url,
        @Nullable String name,
        OptionalLong id,
        @Nullable EngineKind kind,
        Set<String> models,
        int blockSize,
        int dpSize,
        @Nullable String eventsEndpoint,
        @Nullable String replayEndpoint,
        boolean eventsBind,
        String topic,
        List<Taint> taints,
        @Nullable PoolMetadata pool,
        @Nullable PriorityOrder priorities,
        Capacity capacity,
        Map<String, String> labels,
        @Nullable PinSupport pins,
        double weight,
        @Nullable Role role,
        int bootstrapPort) {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
    private static final Pattern ENDPOINT = Pattern.compile("(tcp|ipc|inproc)://.+");

    /** Largest data-parallel size taken seriously. */
    public static final int MAX_DP_SIZE = 1024;

    /**
     * @throws IllegalArgumentException when no engine has so many ranks, whatever it says
     */
    public static void requireRanks(int dpSize) {
        if (dpSize < 0 || dpSize > MAX_DP_SIZE) {
            throw new IllegalArgumentException(
                    "it says that it has %d data-parallel ranks; 0 to %d can be"
                            .formatted(dpSize, MAX_DP_SIZE));
        }
    }

    public static final double MIN_WEIGHT = 0.01;
    public static final double MAX_WEIGHT = 100;

    /** Of a worker of which nobody tells one. */
    public static final double USUAL_WEIGHT = 1;

    public WorkerSpec {
        models = Set.copyOf(models);
        taints = List.copyOf(taints);
        labels = Map.copyOf(labels);
        url = EngineAddress.checked(url);
        if (name != null && !NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "worker name `"
                            + name
                            + "` must be 1 to 63 letters, digits, dots, dashes or underscores");
        }
        if (blockSize < 0 || dpSize < 0 || dpSize > MAX_DP_SIZE) {
            throw new IllegalArgumentException(
                    ("worker %s: block-size %s and dp-size %s must not be negative, dp-size"
                                    + " at most %s")
                            .formatted(url, blockSize, dpSize, MAX_DP_SIZE));
        }
        if (bootstrapPort < 0 || bootstrapPort > 65535) {
            throw new IllegalArgumentException(
                    "worker " + url + ": bootstrap-port " + bootstrapPort + " is no port");
        }
        if (weight != 0 && !(weight >= MIN_WEIGHT && weight <= MAX_WEIGHT)) { // NaN, too
            throw new IllegalArgumentException(
                    "worker %s: weight %s must be a number from %s to %s"
                            .formatted(url, weight, MIN_WEIGHT, (int) MAX_WEIGHT));
        }
        checkEndpoint(url, "events-endpoint", eventsEndpoint);
        checkEndpoint(url, "replay-endpoint", replayEndpoint);
        if (EventEndpoint.POSTED.equals(eventsEndpoint)
                ? eventsBind || replayEndpoint != null
                : EventEndpoint.POSTED.equals(replayEndpoint)) {
            throw new IllegalArgumentException(
                    "worker "
                            + url
                            + ": events-endpoint `post` takes neither events-bind nor a"
                            + " replay-endpoint, and is no replay-endpoint");
        }
        if (eventsEndpoint == null && (eventsBind || replayEndpoint != null)) {
            throw new IllegalArgumentException(
                    "worker " + url + ": events-bind and replay-endpoint need an events-endpoint");
        }
    }

    /** The weight, also where nobody tells one. */
    public double weightOrUsual() {
        return weight == 0 ? USUAL_WEIGHT : weight;
    }

    /** Only the URL is known. */
    public static WorkerSpec of(String url) {
        return new WorkerSpecBuilder(parse(url)).build();
    }

    /**
     * This one, and what it leaves open as {@code weaker} says it. The event sockets are taken
     * together, from whoever names them; labels are joined.
     */
    public WorkerSpec or(WorkerSpec weaker) {
        WorkerSpec events = eventsEndpoint == null ? weaker : this;
        Map<String, String> joined = new HashMap<>(weaker.labels);
        joined.putAll(labels);
        return new WorkerSpec(
                url,
                name == null ? weaker.name : name,
                id.isPresent() ? id : weaker.id,
                kind == null ? weaker.kind : kind,
                models.isEmpty() ? weaker.models : models,
                blockSize == 0 ? weaker.blockSize : blockSize,
                dpSize == 0 ? weaker.dpSize : dpSize,
                events.eventsEndpoint,
                events.replayEndpoint,
                events.eventsBind,
                events.topic,
                taints.isEmpty() ? weaker.taints : taints,
                pool == null ? weaker.pool : pool,
                priorities == null ? weaker.priorities : priorities,
                capacity.or(weaker.capacity),
                joined,
                pins == null ? weaker.pins : pins,
                weight == 0 ? weaker.weight : weight,
                role == null ? weaker.role : role,
                bootstrapPort == 0 ? weaker.bootstrapPort : bootstrapPort);
    }

    /** A URL as people write it; the error names what is wrong with it. */
    public static URI parse(String url) {
        String text = url.strip();
        if (!text.contains("://") && !text.startsWith("unix:")) {
            throw new IllegalArgumentException(
                    "worker URL `"
                            + (text.contains("@") ? "..." : text) // it may hold a password
                            + "` has no scheme: write `http://"
                            + (text.contains("@") ? "host:port" : text.replaceFirst("^/+", ""))
                            + "`");
        }
        try {
            return EngineAddress.checked(new URI(text));
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(
                    "worker URL `" + url + "` is not a URL: " + e.getReason(), e);
        }
    }

    private static void checkEndpoint(URI url, String key, @Nullable String endpoint) {
        if (endpoint != null
                && !endpoint.equals(EventEndpoint.POSTED)
                && !ENDPOINT.matcher(endpoint).matches()) {
            throw new IllegalArgumentException(
                    "worker " + url + ": " + key + " `" + endpoint + "` must look like tcp://h:1");
        }
    }
}
