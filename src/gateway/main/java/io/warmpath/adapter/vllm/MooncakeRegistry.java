package io.warmpath.adapter.vllm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.probe.EngineAnswerException;
import io.warmpath.fleet.probe.EngineHttp;
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
    private static final String PATH = "/query";
    private static final ObjectMapper JSON = new ObjectMapper();

    private MooncakeRegistry() {}

    /**
     * Names of the engines, by rank.
     *
     * @throws IOException it could not be asked, gave no such answer, or a rank has not registered
     *     yet
     */
    static List<String> engines(URI registry, EngineHttp http) throws IOException {
        EngineHttp.Answer answer = http.get(registry, PATH);
        if (!answer.ok()) {
            throw wrong(answer, "answered " + answer.status());
        }
        JsonNode ranks;
        try {
            ranks = JSON.readTree(answer.body());
        } catch (JsonProcessingException e) {
            throw wrong(answer, "is no JSON");
        }
        if (ranks.isEmpty()) {
            throw wrong(answer, "names no engine");
        }
        List<String> engines = new ArrayList<>();
        for (int rank = 0; rank < ranks.size(); rank++) {
            JsonNode name = ranks.path(Integer.toString(rank)).path("engine_id");
            if (!name.isTextual()) {
                throw wrong(answer, "names no engine of rank " + rank);
            }
            engines.add(name.asText());
        }
        return engines;
    }

    private static EngineAnswerException wrong(EngineHttp.Answer answer, String what) {
        return new EngineAnswerException(
                answer.status(), "GET " + PATH + " at its bootstrap port " + what);
    }
}
