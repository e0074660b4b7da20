package io.warmpath.adapter.sglang;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.metadata.HiCacheMetadata;
import io.warmpath.fleet.metadata.PoolMetadata;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * From a server's own arguments to what it says of its pool. Stateless.
 *
 * <p>Whether the model is MLA is not among the arguments; it has to be configured. Masters that the
 * server takes from its environment or a file are not told either.
 */
final class HiCacheArguments {
    private static final ObjectMapper JSON = new ObjectMapper();

    private HiCacheArguments() {}

    /**
     * @return null when it uses no Mooncake pool
     * @throws IllegalArgumentException when nothing that it says of it is usable
     */
    static @Nullable PoolMetadata pool(JsonNode info) throws JsonProcessingException {
        JsonNode metadata = info.path(HiCacheMetadata.KEY);
        return metadata.isObject()
                ? HiCacheMetadata.of(JSON.convertValue(metadata, Map.class))
                : arguments(info);
    }

    private static @Nullable PoolMetadata arguments(JsonNode info) throws JsonProcessingException {
        if (!info.path("hicache_storage_backend").asText("").equals("mooncake")) {
            return null;
        }
        JsonNode extra = extra(info.path("hicache_storage_backend_extra_config"));
        Map<String, Object> fields = new LinkedHashMap<>();
        copy(info, "page_size", fields);
        copy(info, "tp_size", fields);
        copy(info, "pp_size", fields);
        copy(extra, "tp_lcm_size", fields);
        copy(extra, "extra_backend_tag", fields);
        copy(extra, "master_server_address", fields);
        copy(extra, "master_metrics_port", fields);
        String name = info.path("served_model_name").asText("");
        if (!name.isEmpty()) {
            fields.put("model_name", name);
        }
        fields.put("is_eagle", isEagle(info));
        fields.put(
                "should_split_heads",
                info.path("hicache_mem_layout").asText("").equals("page_head")
                        && extra.path("tp_lcm_size").asInt(0) > info.path("tp_size").asInt(1));
        return HiCacheMetadata.of(fields);
    }

    /** It guesses ahead by hidden states, and its caches' keys are pairs of tokens. */
    static boolean isEagle(JsonNode info) {
        String speculative = info.path("speculative_algorithm").asText("");
        return speculative.startsWith("EAGLE")
                || speculative.equals("NEXTN")
                || speculative.equals("FROZEN_KV_MTP");
    }

    /** JSON text, as on the command line, or the object it stands for. */
    private static JsonNode extra(JsonNode config) throws JsonProcessingException {
        return config.isTextual() ? JSON.readTree(config.asText()) : config;
    }

    private static void copy(JsonNode from, String name, Map<String, Object> to) {
        JsonNode value = from.path(name);
        if (value.isIntegralNumber()) {
            to.put(name, value.asLong());
        } else if (value.isTextual() && !value.asText().isEmpty()) {
            to.put(name, value.asText());
        }
    }
}
