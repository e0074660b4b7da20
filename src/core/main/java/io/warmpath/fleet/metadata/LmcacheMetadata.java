package io.warmpath.fleet.metadata;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code lmcache}: how the LMCache in a worker's vLLM names its chunks. Engines do not tell this
 * themselves.
 *
 * @param instanceId {@code lmcache_instance_id}
 * @param pageSize tokens of a chunk
 * @param hashAlgorithm {@code pre_caching_hash_algorithm}
 * @param hashSeed the engine's PYTHONHASHSEED; empty: unset
 */
public record LmcacheMetadata(
        String instanceId, int pageSize, String hashAlgorithm, String hashSeed)
        implements PoolMetadata {
    public static final String KEY = "lmcache";

    private static final int CHUNK = 256;
    private static final String HASH = "builtin";
    private static final Set<String> KNOWN =
            Set.of("instance_id", "chunk_size", "hash_algorithm", "hash_seed");

    /**
     * From JSON as Java's own maps, strings and numbers.
     *
     * @throws MetadataException naming the member that is wrong
     */
    public static LmcacheMetadata of(@Nullable Object json) {
        MetadataFields f = new MetadataFields(KEY, json, KNOWN);
        String instance = f.text("instance_id");
        if (!instance.matches("[A-Za-z0-9._-]{1,128}")) {
            throw f.wrong(
                    "instance_id",
                    "is the engine's lmcache_instance_id: 1 to 128 letters, digits, '.', '_', '-'");
        }
        String hash = f.text("hash_algorithm");
        return new LmcacheMetadata(
                instance,
                f.number("chunk_size", CHUNK, MAX_PAGE_SIZE),
                hash.isEmpty() ? HASH : hash,
                f.text("hash_seed"));
    }

    @Override
    public String key() {
        return KEY;
    }

    /** None: LMCache's workers come here. */
    @Override
    public String masterServerAddress() {
        return "";
    }

    @Override
    public int masterMetricsPort() {
        return DEFAULT_METRICS_PORT;
    }

    @Override
    public PoolMetadata withoutMaster() {
        return this;
    }

    @Override
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("instance_id", instanceId);
        json.put("chunk_size", pageSize);
        json.put("hash_algorithm", hashAlgorithm);
        HiCacheMetadata.text(json, "hash_seed", hashSeed);
        return json;
    }
}
