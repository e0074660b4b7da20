package io.warmpath.adapter.vllm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.WorkerSpec;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What vLLM's {@code GET /kv_event_sources} says.
 *
 * <p>Two shapes are known: an object from rank to publisher settings (0.32), and a list of entries
 * with {@code data_parallel_rank}, either of them alone or as the member {@code sources}. The
 * settings may be the same for every rank although rank r publishes on port + r, so equal endpoints
 * are counted up and distinct ones taken as they are.
 *
 * @param ranks from the lowest to the highest that it names
 * @param events by the worker's ranks
 */
record KvEventSources(EngineRanks ranks, List<EventEndpoint> events) {
    static final KvEventSources NONE = new KvEventSources(EngineRanks.of(0), List.of());

    private static final ObjectMapper JSON = new ObjectMapper();

    static KvEventSources read(URI worker, String body) throws IOException {
        TreeMap<Integer, JsonNode> byRank = new TreeMap<>();
        try {
            JsonNode whole = JSON.readTree(body);
            JsonNode root = whole.has("sources") ? whole.get("sources") : whole;
            if (root.isObject()) {
                for (Map.Entry<String, JsonNode> e : root.properties()) {
                    byRank.put(rank(Integer.parseUnsignedInt(e.getKey())), e.getValue());
                }
            } else if (root.isArray()) {
                for (JsonNode e : root) {
                    byRank.put(rank(e.path("data_parallel_rank").asInt(byRank.size())), e);
                }
            } else if (!root.isNull()) {
                throw new IOException("/kv_event_sources names no ranks");
            }
        } catch (JsonProcessingException | NumberFormatException e) {
            throw new IOException("/kv_event_sources cannot be read: " + e.getMessage(), e);
        }
        if (byRank.isEmpty()) {
            return NONE;
        }
        int first = byRank.firstKey();
        EngineRanks ranks = new EngineRanks(byRank.lastKey() - first + 1, first, false);
        long distinct = byRank.values().stream().map(e -> text(e, "endpoint")).distinct().count();
        boolean sameForAll = byRank.size() > 1 && distinct == 1;
        List<EventEndpoint> list = new ArrayList<>();
        for (Map.Entry<Integer, JsonNode> e : byRank.entrySet()) {
            EventEndpoint endpoint =
                    endpoint(worker, e.getKey() - first, e.getValue(), sameForAll ? e.getKey() : 0);
            if (endpoint != null) {
                list.add(endpoint);
            }
        }
        return new KvEventSources(ranks, list);
    }

    private static int rank(int number) throws IOException {
        if (number < 0 || number >= WorkerSpec.MAX_DP_SIZE) {
            throw new IOException("/kv_event_sources tells of rank " + number);
        }
        return number;
    }

    private static @Nullable EventEndpoint endpoint(URI worker, int rank, JsonNode source, int by)
            throws IOException {
        if (!source.isObject()) {
            throw new IOException("/kv_event_sources tells nothing of rank " + rank);
        }
        String endpoint = text(source, "endpoint");
        boolean off =
                source.has("enable_kv_cache_events")
                        && !source.path("enable_kv_cache_events").asBoolean();
        if (endpoint == null || off || !source.path("publisher").asText("zmq").equals("zmq")) {
            return null;
        }
        String replay = text(source, "replay_endpoint");
        try {
            return new EventEndpoint(
                    rank,
                    EventEndpoint.offsetPort(EventEndpoint.reachable(endpoint, worker), by),
                    false,
                    replay == null
                            ? null
                            : EventEndpoint.offsetPort(EventEndpoint.reachable(replay, worker), by),
                    source.path("topic").asText(""));
        } catch (IllegalArgumentException e) {
            throw new IOException("/kv_event_sources: " + e.getMessage(), e);
        }
    }

    private static @Nullable String text(JsonNode object, String field) {
        return object.hasNonNull(field) ? object.get(field).asText() : null;
    }
}
