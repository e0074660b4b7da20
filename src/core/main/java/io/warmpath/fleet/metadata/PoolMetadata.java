package io.warmpath.fleet.metadata;

import java.util.Map;

/**
 * What a worker, or its operator, says about the pool that its engine uses: Mooncake, LMCache.
 * Immutable. The members of the JSON form are those that Dynamo's workers publish, and a few that
 * make a worker's statement complete where the engine does not.
 */
public sealed interface PoolMetadata permits HiCacheMetadata, LmcacheMetadata, VllmStoreMetadata {
    /** Admin port of a master that names none. */
    int DEFAULT_METRICS_PORT = 9003;

    /** Most ranks of one kind that are taken seriously. */
    int MAX_RANKS = 1024;

    int MAX_PAGE_SIZE = 65536;

    int MAX_PORT = 65535;

    /** Name of this statement, in JSON. */
    String key();

    /** Tokens of a page. */
    int pageSize();

    /** Of the master's RPC, {@code host:port}; empty when not told. */
    String masterServerAddress();

    /** Port of the master's admin HTTP. */
    int masterMetricsPort();

    /** The same without a master's address. */
    PoolMetadata withoutMaster();

    /** As JSON; what is not told is left out. */
    Map<String, Object> json();
}
