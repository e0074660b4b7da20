package io.warmpath.config.router;

/** Which engines' pool is asked, as configured. */
public enum SharedCacheType {
    /** None. */
    NONE,
    /** SGLang's HiCache with the storage backend mooncake. */
    HICACHE,
    /** vLLM's MooncakeStoreConnector. */
    MOONCAKE_STORE,
    /** LMCache in vLLM, whose controller this process is. */
    LMCACHE
}
