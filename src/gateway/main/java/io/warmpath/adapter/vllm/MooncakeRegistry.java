package io.warmpath.adapter.vllm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.probe.EngineAnswerException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/**
 * The registry of vLLM's Mooncake connector, an HTTP server of its own beside the engine that
 * prefills: {@code {"0":{"engine_id":"26ad3fb5-...","worker_addr":{...}}}}, a member for each data
 * parallel rank.
 */
final class MooncakeRegistry {
    static final String PATH = "/query";

    private static final ObjectMapper JSON = new ObjectMapper();

    private MooncakeRegistry() {}

    static URI at(URI worker, int port) {
        return URI.create("http://" + worker.getHost() + ":" + port);
    }

    /**
     * Names of the engines, by rank.
     *
     * @throws IOException it is no such answer, or a rank has not registered yet
     */
    static List<String> engines(String body) throws IOException {
        JsonNode ranks;
        try {
            ranks = JSON.readTree(body);
        } catch (JsonProcessingException e) {
            throw new EngineAnswerException(
                    200, "GET " + PATH + " at its bootstrap port is no JSON");
        }
        List<String> engines = new ArrayList<>();
        for (int rank = 0; rank < ranks.size(); rank++) {
            JsonNode name = ranks.path(Integer.toString(rank)).path("engine_id");
            if (!name.isTextual()) {
                throw new EngineAnswerException(
                        200,
                        "GET " + PATH + " at its bootstrap port names no engine of rank " + rank);
            }
            engines.add(name.asText());
        }
        if (engines.isEmpty()) {
            throw new EngineAnswerException(
                    200, "GET " + PATH + " at its bootstrap port names no engine");
        }
        return engines;
    }
}
