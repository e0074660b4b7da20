package io.warmpath.fleet.metadata;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code vllm_mooncake_store}: how vLLM's MooncakeStoreConnector writes to Mooncake. Engines do not
 * tell this themselves.
 *
 * @param pageSize tokens of a block
 * @param hashSeed the engines' PYTHONHASHSEED; empty: unset
 * @param modelName last part of the model's path
 * @param storeNamespace follows the model's name in keys; empty: none
 * @param cachePrefix begins every key; empty: none
 * @param tpRanks tensor-parallel ranks that write parts of their own: 1 for MLA models
 */
public record VllmStoreMetadata(
        int pageSize,
        String hashSeed,
        String modelName,
        String storeNamespace,
        String cachePrefix,
        int tpRanks,
        int pcpRanks,
        int dcpRanks,
        int ppRanks,
        int groups,
        String masterServerAddress,
        int masterMetricsPort)
        implements PoolMetadata {
    public static final String KEY = "vllm_mooncake_store";

    private static final Set<String> KNOWN =
            Set.of(
                    ("block_size hash_seed model_name store_namespace cache_prefix tp_ranks"
                                    + " pcp_ranks dcp_ranks pp_ranks groups master_server_address"
                                    + " master_metrics_port")
                            .split(" ", -1));

    /**
     * From JSON as Java's own maps, strings, numbers and booleans.
     *
     * @throws MetadataException naming the member that is wrong
     */
    public static VllmStoreMetadata of(@Nullable Object json) {
        MetadataFields f = new MetadataFields(KEY, json, KNOWN);
        String model = f.text("model_name");
        if (model.isEmpty()) {
            throw f.wrong("model_name", "is missing: the last part of the model's path");
        }
        return new VllmStoreMetadata(
                f.needed("block_size", MAX_PAGE_SIZE),
                f.text("hash_seed"),
                model,
                f.text("store_namespace"),
                f.text("cache_prefix"),
                f.number("tp_ranks", 1, MAX_RANKS),
                f.number("pcp_ranks", 1, MAX_RANKS),
                f.number("dcp_ranks", 1, MAX_RANKS),
                f.number("pp_ranks", 1, MAX_RANKS),
                f.number("groups", 1, MAX_RANKS),
                f.text("master_server_address"),
                f.number("master_metrics_port", DEFAULT_METRICS_PORT, MAX_PORT));
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
        json.put("block_size", pageSize);
        HiCacheMetadata.text(json, "hash_seed", hashSeed);
        json.put("model_name", modelName);
        HiCacheMetadata.text(json, "store_namespace", storeNamespace);
        HiCacheMetadata.text(json, "cache_prefix", cachePrefix);
        json.put("tp_ranks", tpRanks);
        json.put("pcp_ranks", pcpRanks);
        json.put("dcp_ranks", dcpRanks);
        json.put("pp_ranks", ppRanks);
        json.put("groups", groups);
        HiCacheMetadata.text(json, "master_server_address", masterServerAddress);
        json.put("master_metrics_port", masterMetricsPort);
        return json;
    }
}
