package io.warmpath.adapter.sglang;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.probe.AdapterSlots;
import io.warmpath.fleet.probe.EngineLoad;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** SGLang's {@code GET /v1/loads}, and the {@code /get_load} of releases before it. Stateless. */
final class SglangLoads {
    private static final ObjectMapper JSON = new ObjectMapper();

    private SglangLoads() {}

    static List<EngineLoad> read(String body) throws IOException {
        JsonNode root;
        try {
            root = JSON.readTree(body);
        } catch (JsonProcessingException e) {
            throw new IOException("its loads are not JSON", e);
        }
        boolean newer = root.path("loads").isArray();
        JsonNode loads = newer ? root.path("loads") : root;
        List<EngineLoad> ranks = new ArrayList<>();
        for (JsonNode load : loads) {
            if (ranks.size() == WorkerSpec.MAX_DP_SIZE) {
                break; // no engine has more
            }
            int waiting = load.path("num_waiting_reqs").asInt(0);
            int running =
                    newer
                            ? load.path("num_running_reqs").asInt(0)
                            : load.path("num_reqs").asInt(0) - waiting;
            ranks.add(
                    new EngineLoad(
                            load.path("dp_rank").asInt(0),
                            Math.max(0, running),
                            Math.max(0, waiting),
                            load.path(newer ? "num_used_tokens" : "num_tokens").asLong(-1),
                            load.path("token_usage").asDouble(-1),
                            null,
                            adapters(load.path("lora"))));
        }
        return ranks;
    }

    /** It tells how many run, not which. */
    private static @Nullable AdapterSlots adapters(JsonNode lora) {
        int limit = lora.path("slots_total").asInt(0);
        return limit <= 0
                ? null
                : new AdapterSlots(limit, Set.of(), lora.path("slots_used").asInt(0));
    }
}
