package io.warmpath.fleet.metadata;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code sglang_hicache_mooncake}: how an SGLang server's HiCache writes to Mooncake.
 *
 * @param pageSize tokens of a page
 * @param tpSize tensor-parallel ranks
 * @param ppSize pipeline stages
 * @param mla K and V are one latent, the same on all ranks
 * @param eagle pages are made of bigrams
 * @param tpLcmSize parts that heads are split into when servers of different {@code tpSize} share
 *     pages; counts with {@code splitHeads}
 * @param backendTag begins every key; empty: none
 * @param modelName as served; empty: the worker's only model
 * @param version of SGLang; empty: what the engine says
 */
public record HiCacheMetadata(
        int pageSize,
        int tpSize,
        int ppSize,
        boolean mla,
        boolean eagle,
        int tpLcmSize,
        boolean splitHeads,
        String backendTag,
        String masterServerAddress,
        int masterMetricsPort,
        String modelName,
        String version)
        implements PoolMetadata {
    public static final String KEY = "sglang_hicache_mooncake";

    /** The last two are of Dynamo's newer workers, and not looked at. */
    private static final Set<String> KNOWN =
            Set.of(
                    ("backend page_size tp_size pp_size is_mla_model is_eagle tp_lcm_size"
                                    + " should_split_heads extra_backend_tag master_server_address"
                                    + " master_metrics_port model_name sglang_version"
                                    + " kv_events_endpoint hicache_object_layout")
                            .split(" ", -1));

    /**
     * From JSON as Java's own maps, strings, numbers and booleans.
     *
     * @throws MetadataException naming the member that is wrong
     */
    public static HiCacheMetadata of(@Nullable Object json) {
        MetadataFields f = new MetadataFields(KEY, json, KNOWN);
        String backend = f.text("backend");
        if (!backend.isEmpty() && !backend.equals("mooncake")) {
            throw f.wrong("backend", "must be mooncake, not " + backend);
        }
        int tp = f.number("tp_size", 1, MAX_RANKS);
        int lcm = f.number("tp_lcm_size", tp, MAX_RANKS);
        boolean split = f.flag("should_split_heads");
        if (split && lcm % tp != 0) {
            throw f.wrong("tp_lcm_size", "must be a multiple of tp_size " + tp);
        }
        return new HiCacheMetadata(
                f.needed("page_size", MAX_PAGE_SIZE),
                tp,
                f.number("pp_size", 1, MAX_RANKS),
                f.flag("is_mla_model"),
                f.flag("is_eagle"),
                lcm,
                split,
                f.text("extra_backend_tag"),
                f.text("master_server_address"),
                f.number("master_metrics_port", DEFAULT_METRICS_PORT, MAX_PORT),
                f.text("model_name"),
                f.text("sglang_version"));
    }

    @Override
    public String key() {
        return KEY;
    }

    @Override
    public PoolMetadata withoutMaster() {
        Map<String, Object> json = json();
        json.remove("master_server_address");
        return of(json);
    }

    @Override
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("backend", "mooncake");
        json.put("page_size", pageSize);
        json.put("tp_size", tpSize);
        json.put("pp_size", ppSize);
        json.put("is_mla_model", mla);
        json.put("is_eagle", eagle);
        json.put("tp_lcm_size", tpLcmSize);
        json.put("should_split_heads", splitHeads);
        text(json, "extra_backend_tag", backendTag);
        text(json, "master_server_address", masterServerAddress);
        json.put("master_metrics_port", masterMetricsPort);
        text(json, "model_name", modelName);
        text(json, "sglang_version", version);
        return json;
    }

    static void text(Map<String, Object> json, String name, String value) {
        if (!value.isEmpty()) {
            json.put(name, value);
        }
    }
}
