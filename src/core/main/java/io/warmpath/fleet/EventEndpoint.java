package io.warmpath.fleet;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where one rank of a worker publishes its KV events. Immutable.
 *
 * @param endpoint ZeroMQ endpoint with a reachable host, such as {@code tcp://10.0.0.1:5557},,
 *     {@link #POSTED}, or the address of a {@link #POLLED} source
 * @param bind true when this side binds and the engine connects
 * @param replayEndpoint socket that serves missed batches, null when there is none
 * @param topic subscription prefix, may be empty
 */
public record EventEndpoint(
        int dpRank, String endpoint, boolean bind, @Nullable String replayEndpoint, String topic) {

    /** In place of an address: the engine posts its events to this gateway. */
    public static final String POSTED = "post";

    /** What is asked of an engine that gives its events to whoever asks (TensorRT-LLM). */
    public static final String POLLED = "/kv_cache_events";

    private static final Pattern TCP = Pattern.compile("tcp://(.+):(\\d{1,5})");

    /**
     * Of an engine that is asked for its events.
     *
     * @param worker its URL
     */
    public static EventEndpoint polled(URI worker) {
        return new EventEndpoint(0, worker + POLLED, false, null, "");
    }

    /** Whether the engine is asked for its events there. */
    public static boolean isPolled(String endpoint) {
        return endpoint.endsWith(POLLED)
                && !endpoint.startsWith("tcp:")
                && !endpoint.startsWith("ipc:")
                && !endpoint.startsWith("inproc:");
    }

    /**
     * One endpoint per rank from the endpoint of rank 0: engines publish rank {@code r} on port
     * {@code base + r}, and serve its replay on {@code replay base + r}.
     *
     * @throws IllegalArgumentException when there is no such endpoint for each rank
     */
    public static List<EventEndpoint> perRank(
            String base, @Nullable String replayBase, boolean bind, String topic, int dpSize) {
        WorkerSpec.requireRanks(dpSize);
        List<EventEndpoint> list = new ArrayList<>(dpSize);
        for (int rank = 0; rank < dpSize; rank++) {
            list.add(
                    new EventEndpoint(
                            rank,
                            offsetPort(base, rank),
                            bind,
                            replayBase == null ? null : offsetPort(replayBase, rank),
                            topic));
        }
        return List.copyOf(list);
    }

    /**
     * {@code tcp://h:5557} and 2 give {@code tcp://h:5559}; other transports only take 0. All ranks
     * post to one gateway, or are asked at one address.
     */
    public static String offsetPort(String endpoint, int by) {
        if (by == 0 || endpoint.equals(POSTED) || isPolled(endpoint)) {
            return endpoint;
        }
        Matcher m = TCP.matcher(endpoint);
        if (!m.matches()) {
            throw new IllegalArgumentException(
                    "endpoint "
                            + endpoint
                            + " has no port to count up from for rank "
                            + by
                            + "; give a tcp:// endpoint or dp-size 1");
        }
        int port = Integer.parseInt(m.group(2)) + by;
        if (port > 65535) {
            throw new IllegalArgumentException(
                    "endpoint " + endpoint + " leaves no port for rank " + by);
        }
        return "tcp://" + m.group(1) + ":" + port;
    }

    /** An engine that binds to all addresses says {@code *}; others reach it at its own host. */
    public static String reachable(String endpoint, URI worker) {
        Matcher m = TCP.matcher(endpoint);
        if (!m.matches()) {
            return endpoint;
        }
        return switch (m.group(1)) {
            case "*", "0.0.0.0", "::", "[::]" ->
                    "tcp://" + EngineAddress.hostOf(worker) + ":" + m.group(2);
            default -> endpoint;
        };
    }
}
